package simulation_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// customer is one client. It belongs to a user, comes with each rush and does a few things then.
type customer struct {
	*world
	name   string
	user   imagegen.UserID
	dice   *dice
	orders []*order
}

func newCustomer(w *world, n int) *customer {
	name := fmt.Sprintf("customer%d", n)
	return &customer{world: w, name: name, user: w.listener.users[n%len(w.listener.users)], dice: newDice(w.seed, name)}
}

func (c *customer) run() {
	for range c.plan.rushes {
		next := time.Now().Add(betweenRush)
		for range 1 + c.dice.below(4) {
			time.Sleep(c.dice.between(0, 2*time.Minute))
			c.act()
		}
		time.Sleep(time.Until(next))
	}
}

func (c *customer) act() {
	if len(c.orders) == 0 {
		c.order()
		return
	}
	o := pick(c.dice, c.orders[max(0, len(c.orders)-5):])
	switch c.dice.weighted(45, 8, 8, 4, 8, 10, 4, 5, 3, 2, 3) {
	case 0:
		c.order()
	case 1:
		c.orderTwice()
	case 2:
		c.replay(o)
	case 3:
		c.useKeyOtherwise(o)
	case 4:
		c.poll(o)
	case 5:
		c.look(o)
	case 6:
		c.erase(o)
	case 7:
		c.list()
	case 8:
		c.balance()
	case 9:
		c.pry()
	case 10:
		c.cancel(o)
	}
}

var sizes = []imagegen.Size{{Width: 16, Height: 16}, {Width: 32, Height: 24}, {Width: 64, Height: 48}}

// newOrder makes up a request that nobody else makes.
func (c *customer) newOrder() *order {
	o := &order{at: c.now()}
	o.request = imagegen.GenerateRequest{Model: model, Prompt: fmt.Sprintf("%s asks for no. %d", c.name, len(c.orders)),
		N: 1 + c.dice.below(4), Size: pick(c.dice, sizes), Quality: pick(c.dice, imagegen.Qualities()),
		Async: c.dice.chance(0.5)}
	if c.dice.chance(0.8) {
		o.request.IdempotencyKey = fmt.Sprintf("%s-%d", c.name, len(c.orders))
	}
	if c.dice.chance(0.15) {
		o.request.References = []imagegen.Reference{photo(picture(sizes[0], o.request.Prompt))}
	}
	o.User, o.Prompt = c.user, o.request.Prompt
	c.orders = append(c.orders, o)
	c.listener.add(o)
	return o
}

// photo is a reference image.
type photo []byte

func (p photo) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(p)), nil
}

func (c *customer) order() { c.insist(c.newOrder()) }

// insist asks again until there is an answer, if a key makes that safe.
func (c *customer) insist(o *order) {
	for range 6 {
		if !c.ask(o) || o.request.IdempotencyKey == "" {
			return
		}
		time.Sleep(c.dice.between(time.Second, 30*time.Second))
	}
}

// ask asks one of the hosts, and hangs up at times. It reports whether to ask again.
func (c *customer) ask(o *order) (again bool) {
	ctx, hangUp := context.WithTimeout(c.Context(), c.patience())
	defer hangUp()
	began := c.listener.now()
	var got imagegen.Result
	err := c.reach(ctx, pick(c.dice, c.hosts), c.user, func(ctx context.Context, s imagegen.Service) (err error) {
		got, err = s.Generate(ctx, o.request)
		return err
	})
	if err != nil {
		return c.listener.hearError(o, began, err)
	}
	c.listener.hearResult(o, began, got)
	return false
}

func (c *customer) patience() time.Duration {
	if c.dice.chance(0.1) {
		return c.dice.between(time.Millisecond, time.Minute)
	}
	return time.Hour
}

// orderTwice sends one request with one key over two connections at once.
func (c *customer) orderTwice() {
	o := c.newOrder()
	if o.request.IdempotencyKey == "" {
		return // never sent
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { c.insist(o) })
	}
	both.Wait()
}

// replayable bounds the age of a key that is used again: though the clock jump meanwhile, the key is
// reserved still.
const replayable = imagegen.IdempotencyKeyLifetime - longestJump - time.Hour

func (c *customer) hasKey(o *order) bool {
	return o.request.IdempotencyKey != "" && c.now().Sub(o.at) < replayable
}

func (c *customer) replay(o *order) {
	if c.hasKey(o) {
		c.ask(o)
	}
}

// useKeyOtherwise sends another request with a key that was used.
func (c *customer) useKeyOtherwise(used *order) {
	if c.hasKey(used) {
		o := c.newOrder()
		o.request.IdempotencyKey = used.request.IdempotencyKey
		o.share(used)
		c.ask(o)
	}
}
