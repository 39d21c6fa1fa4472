package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// poll asks how an order stands until it has ended, or for a while.
func (c *customer) poll(o *order) {
	id := o.knownID()
	if id == "" {
		return
	}
	for range 10 {
		began := c.listener.now()
		var g imagegen.Generation
		err := c.serve(o, func(ctx context.Context, s imagegen.Service) (err error) {
			g, err = s.Generation(ctx, id)
			return err
		})
		if err != nil {
			return
		}
		if c.listener.hear(o, began, g); g.Status.Terminal() {
			return
		}
		time.Sleep(c.dice.between(time.Second, time.Minute))
	}
}

// serve uses the service for what is not Generate. o is what it is about, if it is about one order.
func (c *customer) serve(o *order, use func(context.Context, imagegen.Service) error) error {
	err := c.reach(c.Context(), pick(c.dice, c.hosts), c.user, use)
	if o != nil && errors.Is(err, imagegen.ErrNotFound) {
		c.listener.missing(o)
	}
	return err
}

// look reads the images of an order, each of which stays as it was.
func (c *customer) look(o *order) {
	for _, i := range o.images() {
		c.serve(o, func(ctx context.Context, s imagegen.Service) error {
			f, err := s.OpenImage(ctx, i.ID)
			if err != nil {
				return err
			}
			sum, err := witness.Sum(f, nil)
			if err != nil {
				return err
			}
			c.fact(f.ETag == fmt.Sprintf("%x", sum), "image %s has another hash than its ETag says", i.ID)
			c.listener.hearImage(o, i.ID, sum)
			return nil
		})
	}
}

// cancel ends an order that waits, if it does.
func (c *customer) cancel(o *order) {
	id := o.knownID()
	if id == "" {
		return
	}
	began := c.listener.now()
	var g imagegen.Generation
	err := c.serve(o, func(ctx context.Context, s imagegen.Service) (err error) {
		g, err = s.Cancel(ctx, id)
		return err
	})
	if err == nil {
		c.listener.hear(o, began, g)
		c.met.Add("cancelled", 1)
	}
}

// erase has the operator erase an order that has ended.
func (c *customer) erase(o *order) {
	p := pick(c.dice, c.hosts).running()
	if o.images() == nil || p == nil {
		return
	}
	o.toErase(witness.Erasing)
	err := p.engine.Erase(c.Context(), o.knownID())
	if err == nil && p.link.cut.Err() == nil {
		o.toErase(witness.Erased)
	}
}

// list reads all pages of the user's generations.
func (c *customer) list() {
	began := c.listener.now()
	var listed []imagegen.Generation
	for q := (imagegen.Query{Limit: 7}); ; {
		var page imagegen.Page
		err := c.serve(nil, func(ctx context.Context, s imagegen.Service) (err error) {
			page, err = s.Generations(ctx, q)
			return err
		})
		if err != nil {
			return
		}
		listed = append(listed, page.Generations...)
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	c.listener.hearList(c.user, began, listed)
}

func (c *customer) balance() {
	var b imagegen.Balance
	err := c.serve(nil, func(ctx context.Context, s imagegen.Service) (err error) {
		b, err = s.Balance(ctx)
		return err
	})
	if err == nil && b.Credits < 0 {
		c.Errorf("user %s has %d credits", c.user, b.Credits)
	}
}

// pry asks for what belongs to another user.
func (c *customer) pry() {
	o := pick(c.dice, c.listener.all())
	id := o.knownID()
	if o.User == c.user || id == "" {
		return
	}
	err := c.serve(nil, func(ctx context.Context, s imagegen.Service) error {
		_, err := s.Generation(ctx, id)
		return err
	})
	if err == nil {
		c.Errorf("%s was shown generation %s, which is another's", c.user, id)
	}
}
