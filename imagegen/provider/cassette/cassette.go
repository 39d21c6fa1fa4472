// Package cassette records what a provider does, for tests, and replays it without the upstream.
package cassette

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// Cassette is a provider that records another one into a directory, or stands in for it. It is safe for concurrent use.
// The file calls.json lists the calls in the order in which they ended; the images lie beside it.
//
// In a replay, a call gets the first recorded answer to an equal request that no other call had. All of a request
// counts but Key, EndUser and the bytes of Job. A call that was not recorded ends with an error of
// imagegen.ClassInvalid that says what differs from the nearest one. Images come at once; SaveJob and MemberDone are
// not called. Where the recorded call ended with its context, the replay waits for the end of its own.
type Cassette struct {
	imagegen.Provider
	provider.Forward
	dir       string
	recording bool

	mu       sync.Mutex
	calls    []call // recorded so far, or not yet replayed
	problems error
}

type call struct {
	Request   []string               // what describe returns
	Images    []string               `json:",omitempty"` // files
	Used      imagegen.UpstreamUsage `json:",omitzero"`
	Error     *failure               `json:",omitempty"`
	Cancelled bool                   `json:",omitempty"` // the context ended first
}

type failure struct {
	Class, Text string
	RetryAfter  time.Duration
	Overloaded  bool
}

// Record begins a new cassette of p in a directory, which it creates. It replaces the list of calls of an earlier one.
func Record(dir string, p imagegen.Provider) (*Cassette, error) {
	return &Cassette{Provider: p, Forward: provider.Forward{To: p}, dir: dir, recording: true}, os.MkdirAll(dir, 0o755)
}

// Replay reads a cassette. It never calls p.Generate: p needs no upstream and no valid key, unless it is probed.
func Replay(dir string, p imagegen.Provider) (*Cassette, error) {
	c := &Cassette{Provider: p, Forward: provider.Forward{To: p}, dir: dir}
	raw, err := os.ReadFile(filepath.Join(dir, "calls.json"))
	if err == nil {
		err = json.Unmarshal(raw, &c.calls)
	}
	return c, err
}

// Done returns what went wrong: calls that were not recorded, recorded calls that nobody made, what could not be
// written. Ask it at the end of a test, for an engine does not show the errors of providers to its callers.
func (c *Cassette) Done() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recording || len(c.calls) == 0 {
		return c.problems
	}
	left := fmt.Errorf("cassette: nobody made %d calls, such as %q", len(c.calls), c.calls[0].Request)
	return errors.Join(c.problems, left)
}

// problem notes an error for Done, and returns it as that of a call.
func (c *Cassette) problem(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = errors.Join(c.problems, fmt.Errorf("cassette: %w", err))
	return &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: "cassette", Err: err}
}

// Generate records a call, or replays it.
func (c *Cassette) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		asked, err := describe(ctx, r)
		switch {
		case err != nil:
			err = &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "reading a reference", Err: err}
		case c.recording:
			err = c.record(ctx, r, asked, yield)
		default:
			err = c.replay(ctx, r, asked, yield)
		}
		if err != nil {
			yield(imagegen.ProviderImage{}, err)
		}
	}
}

// record makes a call, and notes it when it has ended. An image is read whole, as far as it comes, and then passed on.
func (c *Cassette) record(ctx context.Context, r imagegen.ProviderRequest, asked []string,
	yield func(imagegen.ProviderImage, error) bool) (ended error) {
	made, used, stopped := call{Request: asked}, r.Used, false
	r.Used = func(u imagegen.UpstreamUsage) {
		c.mu.Lock()
		made.Used = made.Used.Plus(u)
		c.mu.Unlock()
		if used != nil {
			used(u)
		}
	}
	for i, err := range c.Provider.Generate(ctx, r) {
		if ended = err; err != nil {
			break
		}
		raw, _ := io.ReadAll(i.Body)
		media, _ := picture.MediaType(raw)
		name := fmt.Sprintf("%.8x.%s", sha256.Sum256(raw), strings.TrimPrefix(media, "image/"))
		made.Images = append(made.Images, name)
		if err := os.WriteFile(filepath.Join(c.dir, name), raw, 0o644); err != nil {
			return c.problem(err)
		}
		if stopped = !yield(imagegen.ProviderImage{Body: bytes.NewReader(raw)}, nil); stopped {
			break
		}
	}
	made.Error, made.Cancelled = failureOf(ended), ctx.Err() != nil && !stopped
	c.mu.Lock()
	c.calls = append(c.calls, made)
	raw, err := json.MarshalIndent(c.calls, "", "  ")
	err = cmp.Or(err, os.WriteFile(filepath.Join(c.dir, "calls.json"), append(raw, '\n'), 0o644))
	c.mu.Unlock()
	if err != nil {
		ended = c.problem(err)
	}
	if stopped {
		return nil
	}
	return ended
}

// replay does what the recorded provider did.
func (c *Cassette) replay(ctx context.Context, r imagegen.ProviderRequest, asked []string,
	yield func(imagegen.ProviderImage, error) bool) error {
	made, err := c.find(asked)
	if err != nil {
		return c.problem(err)
	}
	if r.Used != nil && made.Used != (imagegen.UpstreamUsage{}) {
		r.Used(made.Used)
	}
	for _, name := range made.Images {
		raw, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			return c.problem(err)
		}
		if ctx.Err() == nil && !yield(imagegen.ProviderImage{Body: bytes.NewReader(raw)}, nil) {
			return nil
		}
	}
	if made.Cancelled {
		<-ctx.Done()
	}
	return cmp.Or(context.Cause(ctx), made.Error.err())
}

// find takes the first call with an equal request out of those to be replayed.
func (c *Cassette) find(asked []string) (call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	least, err := len(asked)+1, fmt.Errorf("%q was not recorded, or was replayed already", asked)
	for i, made := range c.calls {
		switch was, is := without(made.Request, asked), without(asked, made.Request); {
		case len(was)+len(is) == 0:
			c.calls = slices.Delete(c.calls, i, i+1)
			return made, nil
		case len(is) < least:
			least, err = len(is), fmt.Errorf("%q is asked for; the nearest call that is left has %q there", is, was)
		}
	}
	return call{}, err
}

// describe has a line for each thing that a request asks for. Of references, which it reads, it has the hash.
func describe(ctx context.Context, r imagegen.ProviderRequest) ([]string, error) {
	options, err := json.Marshal(r.Options)
	lines := []string{"prompt: " + r.Prompt, fmt.Sprintf("n: %d, mask: %t, job: %t", r.N, r.Mask != nil, r.Job != nil),
		fmt.Sprintf("size: %v, ratio: %s, tier: %s, quality: %s", r.Size, r.Ratio, r.Tier, r.Quality)}
	if r.Options.IsSet() {
		lines = append(lines, "options: "+string(options))
	}
	files := slices.Clone(r.References)
	if r.Mask != nil {
		files = append(files, *r.Mask)
	}
	for i, file := range files {
		hash := sha256.New()
		f, unread := file.Open(ctx)
		if unread == nil {
			_, unread = io.Copy(hash, f)
			f.Close()
		}
		err = cmp.Or(err, unread)
		lines = append(lines, fmt.Sprintf("file %d: %s %x", i+1, file.MediaType, hash.Sum(nil)))
	}
	return lines, err
}

// without returns the lines that others do not have.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

// suspect finds queries of URLs and long words: keys, tokens and signatures are among them.
var suspect = regexp.MustCompile(`\?[^\s"']+|[\w+/=-]{28,}`)

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok {
		e = &imagegen.ProviderError{Err: err}
	}
	text := strings.TrimPrefix(e.Error(), "provider: "+e.Class.String()+": ")
	return &failure{e.Class.String(), suspect.ReplaceAllString(text, "[…]"), e.RetryAfter, e.Overloaded}
}

func (f *failure) err() error {
	if f == nil {
		return nil
	}
	e := &imagegen.ProviderError{Message: f.Text, RetryAfter: f.RetryAfter, Overloaded: f.Overloaded}
	for e.Class.String() != f.Class && e.Class < imagegen.ClassStorage {
		e.Class++
	}
	return e
}
