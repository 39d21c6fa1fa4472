package imagegentest

import (
	"bytes"
	"context"
	"iter"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// paced is an upstream that takes a time for an image, and may take only so many a second.
type paced struct {
	took      time.Duration
	perSecond int           // 0: any number
	says      time.Duration // Retry-After

	mu       sync.Mutex
	down     bool
	asked    []time.Time
	accepted []time.Time // within the last second
	images   int
	no       int
}

func (u *paced) setDown(down bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.down = down
}

// made and refused tell how many images there were, and how many would have been too much.
func (u *paced) made() (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.images
}

func (u *paced) refused() (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.no
}

func (u *paced) times() []time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asked
}

// take takes a request in, or refuses it.
func (u *paced) take() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	u.asked = append(u.asked, now)
	for len(u.accepted) > 0 && now.Sub(u.accepted[0]) >= time.Second {
		u.accepted = u.accepted[1:]
	}
	switch {
	case u.down:
		u.no++
		return &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Overloaded: true, RetryAfter: u.says,
			Message: "503"}
	case u.perSecond > 0 && len(u.accepted) >= u.perSecond:
		u.no++
		return &imagegen.ProviderError{Class: imagegen.ClassRateLimited, RetryAfter: u.says, Message: "429"}
	}
	u.accepted = append(u.accepted, now)
	u.images++
	return nil
}

func (u *paced) Name() string { return "paced" }
func (u *paced) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{Verify: imagegen.VerifyStructure}
}

func (u *paced) Generate(context.Context, imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		if err := u.take(); err != nil {
			time.Sleep(20 * time.Millisecond)
			yield(imagegen.ProviderImage{}, err)
			return
		}
		time.Sleep(u.took)
		yield(imagegen.ProviderImage{Body: bytes.NewReader(smallest())}, nil)
	}
}

var smallest = sync.OnceValue(func() []byte { return PNG(16, 16) })
