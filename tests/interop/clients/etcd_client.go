// SPDX-License-Identifier: Apache-2.0
// Contenders that use concurrency.Mutex of etcd's Go client, or RWMutex of its recipes.
//
//	etcd_client HOST:PORT
//
// Commands, one a line:
//
//	acquire NAME PREFIX SECONDS     in a session of its own with such a TTL; answers "held NAME KEY"
//	read NAME PREFIX SECONDS        the same of the read/write lock, which does not tell its key; answers "held NAME"
//	write NAME PREFIX SECONDS
//	release NAME                    answers "released NAME"
//	count NAME PREFIX FILE ROUNDS   adds one to the number in the file so often, each time under the lock and in
//	                                two steps that the lock alone protects; answers "counted NAME"
//
// Answers "ready" first, and "lost NAME" when a session that holds ends; the end of the input ends the program.
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

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
)

var (
	said   sync.Mutex
	client *clientv3.Client
)

type holder struct {
	session *concurrency.Session
	mutex   *concurrency.Mutex
	unlock  func() error
}

func say(words ...string) {
	said.Lock()
	defer said.Unlock()
	fmt.Println(strings.Join(words, " "))
}

func newHolder(prefix string, seconds int) (*holder, error) {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(seconds))
	if err != nil {
		return nil, err
	}
	mutex := concurrency.NewMutex(session, prefix)
	return &holder{session, mutex, func() error { return mutex.Unlock(context.Background()) }}, nil
}

func (one *holder) share(kind, name, prefix string) error {
	shared := recipe.NewRWMutex(one.session, prefix)
	lock := shared.RLock
	one.unlock = shared.RUnlock
	if kind == "write" {
		lock = shared.Lock
		one.unlock = shared.Unlock
	}
	if err := lock(); err != nil {
		return err
	}
	say("held", name)
	return nil
}

func (one *holder) acquire(name string) error {
	if err := one.mutex.Lock(context.Background()); err != nil {
		return err
	}
	say("held", name, one.mutex.Key())
	<-one.session.Done()
	say("lost", name)
	return nil
}

func (one *holder) release(name string) error {
	if err := one.unlock(); err != nil {
		return err
	}
	say("released", name)
	return one.session.Close()
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

// All in one session, as a program would.
func count(name, prefix, file string, rounds int) error {
	one, err := newHolder(prefix, 60)
	if err != nil {
		return err
	}
	for i := 0; i < rounds; i++ {
		if err := one.mutex.Lock(context.Background()); err != nil {
			return err
		}
		if err := addOne(file); err != nil {
			return err
		}
		if err := one.mutex.Unlock(context.Background()); err != nil {
			return err
		}
	}
	say("counted", name)
	return one.session.Close()
}

func inBackground(name string, work func() error) {
	go func() {
		if err := work(); err != nil {
			say("failed", name, err.Error())
		}
	}()
}

func main() {
	var err error
	client, err = clientv3.New(clientv3.Config{Endpoints: os.Args[1:], DialTimeout: 20 * time.Second})
	if err != nil {
		say("failed", err.Error())
		return
	}
	holders := map[string]*holder{}
	say("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		name := words[1]
		switch words[0] {
		case "acquire", "read", "write":
			seconds, _ := strconv.Atoi(words[3])
			one, err := newHolder(words[2], seconds)
			if err != nil {
				say("failed", name, err.Error())
				continue
			}
			holders[name] = one
			inBackground(name, func() error {
				if words[0] != "acquire" {
					return one.share(words[0], name, words[2])
				}
				return one.acquire(name)
			})
		case "release":
			one := holders[name]
			inBackground(name, func() error { return one.release(name) })
		case "count":
			rounds, _ := strconv.Atoi(words[4])
			inBackground(name, func() error { return count(name, words[2], words[3], rounds) })
		}
	}
}
