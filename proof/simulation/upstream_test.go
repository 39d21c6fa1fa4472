package simulation_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// mild are the misdeeds that cost no more than virtual time. Sorted, so that a seed picks the same.
var mild = func() []string {
	names := slices.Sorted(maps.Keys(misdeeds))
	return slices.DeleteFunc(names, func(name string) bool { return misdeeds[name].lavish })
}()

// upstream is the provider of a world: good in most calls. What it does follows from the seed, the
// prompt and how often it was asked for that one.
type upstream struct {
	*world
	mu    sync.Mutex
	calls map[string]int // by prompt
}

func (w *upstream) count(prompt string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[prompt]++
	return w.calls[prompt]
}

func (w *upstream) provide(c call) {
	d := newDice(w.seed, fmt.Sprint(c.Prompt, w.count(c.Prompt)))
	if string(c.Job) != "" && string(c.Job) != c.Prompt {
		w.Errorf("%q was handed the job of %q", c.Prompt, c.Job)
	}
	if d.chance(0.3) && c.SaveJob(c, []byte(c.Prompt)) != nil {
		c.fail(imagegen.ClassUnavailable)
		return
	}
	if !pause(c, d.between(100*time.Millisecond, 40*time.Second)) {
		return
	}
	if !d.chance(w.plan.misdeed) {
		c.varied(d)
		return
	}
	switch d.weighted(4, 3, 2, 2, 2, 1) {
	case 0:
		c.good(1 + d.below(c.N))
	case 1:
		c.good(d.below(c.N))
		c.fail(imagegen.ClassUnavailable)
	case 2:
		c.fail(imagegen.ClassRateLimited)
	case 3:
		c.fail(imagegen.ClassInvalid)
	case 4:
		c.fail(imagegen.ClassRefused)
	default:
		misdeeds[pick(d, mild)].do(c)
	}
}

// pause reports whether the call is to go on.
func pause(c call, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.Done():
		return false
	}
}

// varied yields all images, each in one of the ways that are right.
func (c call) varied(d *dice) {
	for i := range c.N {
		var b []byte
		switch d.weighted(400, 50, 50, 1) {
		case 0:
			b = picture(c.Size, fmt.Sprint(c.Key, i))
		case 1:
			b = c.enlarged(4, 4)
		case 2:
			b = photograph(c.Size)
		case 3: // too large to be checked in memory
			b = withChunk(c.image(), "tEXt", large)
		}
		if !c.send(bytes.NewReader(b)) {
			return
		}
		if !pause(c, d.between(0, 5*time.Second)) {
			return
		}
	}
}

var large = bytes.Repeat([]byte("x"), 4<<20)

func photograph(s imagegen.Size) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, s.Width, s.Height)), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}
