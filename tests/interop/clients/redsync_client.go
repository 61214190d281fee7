// SPDX-License-Identifier: Apache-2.0
// Contenders that use redsync with redigo.
//
//	redsync_client HOST:PORT…      one server or several
//
// Commands, one a line:
//
//	acquire NAME KEY MILLISECONDS   answers "held NAME VALUE"
//	release NAME                    answers "released NAME"
//	count NAME KEY FILE ROUNDS      adds one to the number in the file so often, each time under the lock and in
//	                                two steps that the lock alone protects; answers "counted NAME"
//
// Answers "ready" first; the end of the input ends the program.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	redigolib "github.com/gomodule/redigo/redis"
)

var (
	said sync.Mutex
	all  *redsync.Redsync
)

func say(words ...string) {
	said.Lock()
	defer said.Unlock()
	fmt.Println(strings.Join(words, " "))
}

// Tries for as long as a test may take.
func newMutex(key string, lease time.Duration) *redsync.Mutex {
	return all.NewMutex(key, redsync.WithExpiry(lease), redsync.WithTries(5000),
		redsync.WithRetryDelay(20*time.Millisecond))
}

func addOne(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Millisecond)
	return os.WriteFile(file, []byte(strconv.Itoa(number+1)), 0o600)
}

func count(name, key, file string, rounds int) error {
	for i := 0; i < rounds; i++ {
		mutex := newMutex(key, 30*time.Second)
		if err := mutex.Lock(); err != nil {
			return err
		}
		if err := addOne(file); err != nil {
			return err
		}
		if _, err := mutex.Unlock(); err != nil {
			return err
		}
	}
	say("counted", name)
	return nil
}

func acquire(name string, mutex *redsync.Mutex) error {
	if err := mutex.Lock(); err != nil {
		return err
	}
	say("held", name, mutex.Value())
	return nil
}

func release(name string, mutex *redsync.Mutex) error {
	if _, err := mutex.Unlock(); err != nil {
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
	var pools []redis.Pool
	for _, server := range os.Args[1:] {
		server := server
		pools = append(pools, redigo.NewPool(&redigolib.Pool{
			MaxIdle: 4,
			Dial:    func() (redigolib.Conn, error) { return redigolib.Dial("tcp", server) },
		}))
	}
	all = redsync.New(pools...)
	mutexes := map[string]*redsync.Mutex{}
	say("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		name := words[1]
		switch words[0] {
		case "acquire":
			milliseconds, _ := strconv.Atoi(words[3])
			mutex := newMutex(words[2], time.Duration(milliseconds)*time.Millisecond)
			mutexes[name] = mutex
			inBackground(name, func() error { return acquire(name, mutex) })
		case "release":
			mutex := mutexes[name]
			inBackground(name, func() error { return release(name, mutex) })
		case "count":
			rounds, _ := strconv.Atoi(words[4])
			inBackground(name, func() error { return count(name, words[2], words[3], rounds) })
		}
	}
}
