// SPDX-License-Identifier: Apache-2.0
// Contenders that use bsm/redislock with go-redis.
//
//	bsm_client HOST:PORT METADATA      METADATA, perhaps empty: what each puts behind its token
//
// Commands, one a line:
//
//	acquire NAME KEY MILLISECONDS   answers "held NAME"
//	release NAME                    answers "released NAME"
//
// Answers "ready" first; the end of the input ends the program.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

var (
	locks   *redislock.Client
	guarded sync.Mutex
	held    = map[string]*redislock.Lock{}
)

func say(words ...string) {
	guarded.Lock()
	defer guarded.Unlock()
	fmt.Println(strings.Join(words, " "))
}

// Tries for as long as a test may take.
func acquire(name, key, metadata string, lease time.Duration) error {
	patience, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	lock, err := locks.Obtain(patience, key, lease, &redislock.Options{
		RetryStrategy: redislock.LinearBackoff(20 * time.Millisecond),
		Metadata:      metadata,
	})
	if err != nil {
		return err
	}
	guarded.Lock()
	held[name] = lock
	guarded.Unlock()
	say("held", name)
	return nil
}

func release(name string) error {
	guarded.Lock()
	lock := held[name]
	guarded.Unlock()
	if err := lock.Release(context.Background()); err != nil {
		return err
	}
	say("released", name)
	return nil
}

func inBackground(name string, work func() error) {
	go func() {
		if err := work(); err != nil {
			say("failed", name, err.Error())
		}
	}()
}

func main() {
	locks = redislock.New(redis.NewClient(&redis.Options{Addr: os.Args[1]}))
	metadata := os.Args[2]
	say("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		name := words[1]
		switch words[0] {
		case "acquire":
			milliseconds, _ := strconv.Atoi(words[3])
			lease := time.Duration(milliseconds) * time.Millisecond
			inBackground(name, func() error { return acquire(name, words[2], metadata, lease) })
		case "release":
			inBackground(name, func() error { return release(name) })
		}
	}
}
