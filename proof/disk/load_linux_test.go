package disk_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// runLoad has clients work a service on a directory, in random ways, until each has asked so often.
// Like the daemon it ends at once when the disk fails.
func runLoad(args []string) error {
	dir, tapePath := args[0], args[1]
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return err
	}
	times, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	s, say, err := begin(dir, tapePath)
	if err != nil {
		return err
	}
	var clients sync.WaitGroup
	for i := range 4 {
		l := &load{client: client{s, imagegen.UserID(fmt.Sprintf("user-%d-%d", seed, i)), say},
			random: rand.New(rand.NewPCG(seed, uint64(i)))}
		clients.Go(func() { l.run(times) })
	}
	over, read := make(chan struct{}), make(chan error)
	go func() { read <- follow(s, say, tapePath, over) }()
	clients.Wait()
	close(over)
	if err := <-read; err != nil && s.db.Err() == nil {
		return err
	}
	return finish(s)
}

// follow has a program read the feed, from where one stopped that is on the tape already, until that is over.
func follow(s *service, say func(logRecord), tapePath string, over <-chan struct{}) error {
	entries, _ := readTape(tapePath) // the disk is adding to it
	former, err := listen(entries)
	if err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for r := former.feed; ; {
		known := len(r.Events)
		if err := r.Read(context.Background(), s.db); err != nil {
			return err
		}
		if more := r.Events[known:]; len(more) > 0 {
			say(logRecord{What: reading, Events: more})
		}
		select {
		case <-tick.C:
		case <-over:
			return nil
		}
	}
}

// begin opens a service of which clients say everything on a tape.
func begin(dir, tapePath string) (*service, func(logRecord), error) {
	t, err := openTape(tapePath)
	if err != nil {
		return nil, nil, err
	}
	s, err := open(dir, false)
	if err != nil {
		return nil, nil, err
	}
	var saying sync.RWMutex // who ends the process holds it: a process that ends cuts off what it is writing
	go func() {
		<-s.db.Failed()
		saying.Lock()
		os.Exit(statusDisk)
	}()
	say := func(w logRecord) {
		saying.RLock()
		defer saying.RUnlock()
		if err := t.say(w); err != nil {
			panic(err)
		}
	}
	say(logRecord{What: opening})
	return s, say, s.start()
}

func finish(s *service) error {
	err := s.close()
	if s.db.Err() != nil {
		os.Exit(statusDisk)
	}
	return err
}

// load is a client that does as chance has it.
type load struct {
	client
	random *rand.Rand
	former []logRecord // generations that have ended
	serial int         // of what is asked for
}

func (l *load) run(times int) {
	l.grant(l.name("grant"), 1000)
	for range times {
		l.step()
	}
}

func (l *load) name(what string) string {
	l.serial++
	return fmt.Sprintf("%s %s %d", l.user, what, l.serial)
}

// step is one thing that a client does. The shares are such that each outcome is met often.
func (l *load) step() {
	switch n := l.random.IntN(100); {
	case n < 6:
		l.grant(l.name("grant"), 1+imagegen.Credits(l.random.IntN(50)))
	case n < 22:
		l.again()
	case n < 30:
		l.eraseOne()
	case n < 42:
		poor := client{l.service, l.user + " without money", l.say}
		poor.do(l.ask("poor", 0))
	case n < 54:
		l.do(l.ask("busy "+overloading, 0))
	case n < 66:
		l.keep(l.ask("partial [fake:images=1]", 1))
	case n < 78:
		l.keep(l.ask("failing "+[...]string{"[fake:fail]", "[fake:refuse]", "[fake:panic]",
			"[fake:corrupt]"}[l.random.IntN(4)], 0))
	case n < 84:
		r := l.ask("left alone [fake:transient=1] [fake:delay=20ms]", 2)
		r.Async, r.Reference = true, true
		l.submit(r)
	default:
		l.keep(l.ask("plain", 2))
	}
}

// ask makes a request that differs from all others.
func (l *load) ask(what string, makes int) request {
	r := request{Prompt: l.name(what), N: 2, Makes: makes, Async: l.random.IntN(2) == 0,
		Reference: l.random.IntN(3) == 0}
	if l.random.IntN(2) == 0 {
		r.Key = fmt.Sprintf("key-%d", l.serial)
	}
	return r
}

func (l *load) keep(r request) {
	if w := l.do(r); w.Generation != nil || w.Answer == witness.Failed {
		l.former = append(l.former, w)
	}
}

// again repeats a former request that has a key, as a client does that did not get the answer.
func (l *load) again() {
	var keyed []request
	for _, w := range l.former {
		if w.Request.Key != "" {
			keyed = append(keyed, w.Request)
		}
	}
	if len(keyed) > 0 {
		l.do(keyed[l.random.IntN(len(keyed))])
	}
}

func (l *load) eraseOne() {
	if len(l.former) == 0 {
		return
	}
	i := l.random.IntN(len(l.former))
	w := l.former[i]
	l.former = append(l.former[:i:i], l.former[i+1:]...)
	l.erase(w.ID)
}
