package cassette_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/cassette"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// A recording is as good a provider as the one that it records, and the replay of it as good as both. Each part of the
// suite has a cassette of its own, since the parts run in any order.
func TestSuite(t *testing.T) {
	root := t.TempDir()
	run := func(p imagegen.Provider, open func(string, imagegen.Provider) (*cassette.Cassette, error)) {
		t.Run("suite", func(t *testing.T) {
			prefix := t.Name() + "/"
			providertest.Run(t, providertest.Config{Endless: "[fake:hang]", Sample: true,
				New: func(t *testing.T) imagegen.Provider {
					c, err := open(filepath.Join(root, strings.TrimPrefix(t.Name(), prefix)), p)
					is.New(t).NoErr(err)
					return c
				}})
		})
	}
	run(&small{}, func(dir string, p imagegen.Provider) (*cassette.Cassette, error) {
		c, err := cassette.Record(dir, p)
		if err == nil { // for the parts that call nothing
			err = os.WriteFile(filepath.Join(dir, "calls.json"), []byte("[]"), 0o600)
		}
		return c, err
	})
	run(&unreachable{}, cassette.Replay)
}

// small is the fake provider of the lowest tier alone, which keeps the suite quick.
type small struct{ provider.Fake }

func (s *small) Capabilities() imagegen.Capabilities {
	can := s.Fake.Capabilities()
	can.Tiers = []imagegen.Tier{imagegen.Tier1K}
	return can
}

// unreachable is a provider without its upstream.
type unreachable struct{ small }

func (*unreachable) Generate(context.Context, imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	panic("a replay asked the provider")
}

// scripted yields some pictures, says what was used, and then ends with an error.
type scripted struct {
	imagegen.Provider
	pictures []io.Reader
	used     imagegen.UpstreamUsage
	end      error
}

func (s scripted) Generate(_ context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		for _, picture := range s.pictures {
			if !yield(imagegen.ProviderImage{Body: picture}, nil) {
				return
			}
		}
		r.Used(s.used)
		if s.end != nil {
			yield(imagegen.ProviderImage{}, s.end)
		}
	}
}

// record makes calls of a provider with a cassette, and returns its directory.
func record(t *testing.T, p imagegen.Provider, requests ...imagegen.ProviderRequest) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new")
	c, err := cassette.Record(dir, p)
	is.New(t).NoErr(err)
	for _, r := range requests {
		providertest.Read(t.Context(), c, r)
	}
	is.New(t).NoErr(c.Done())
	return dir
}

func replay(t *testing.T, dir string) *cassette.Cassette {
	t.Helper()
	c, err := cassette.Replay(dir, &unreachable{})
	is.New(t).NoErr(err)
	return c
}

// What a provider did comes back: images, what was used, and everything of its error that an engine goes by.
func TestAnswersComeBack(t *testing.T) {
	usage := imagegen.UpstreamUsage{TextInput: 7, ImageOutput: 4160, Time: time.Second, Surplus: 1}
	for name, test := range map[string]struct {
		end  error
		want imagegen.ProviderError
	}{
		"whole": {},
		"rate limited": {&imagegen.ProviderError{Class: imagegen.ClassRateLimited, Message: "slow down",
			RetryAfter: time.Minute}, imagegen.ProviderError{Class: imagegen.ClassRateLimited, Message: "slow down",
			RetryAfter: time.Minute}},
		"overloaded": {fmt.Errorf("wrapped: %w", &imagegen.ProviderError{Class: imagegen.ClassUnavailable,
			Overloaded: true, Err: errors.New("EOF")}), imagegen.ProviderError{Class: imagegen.ClassUnavailable,
			Message: "EOF", Overloaded: true}},
		"refused": {&imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "content_policy_violation"},
			imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "content_policy_violation"}},
		"no class": {errors.New("broken pipe"), imagegen.ProviderError{Message: "broken pipe"}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := record(t, scripted{&provider.Fake{}, []io.Reader{strings.NewReader("\x89PNG\r\n\x1a\n1"),
				strings.NewReader("\x89PNG\r\n\x1a\n2")}, usage, test.end}, providertest.Request("a fox", 3))
			r := providertest.Request("a fox", 3)
			r.Key = "gen_another"
			used := providertest.Used(&r)
			c := replay(t, dir)
			images, ended := providertest.Read(t.Context(), c, r)
			is.Equal(images, []string{"\x89PNG\r\n\x1a\n1", "\x89PNG\r\n\x1a\n2"})
			is.Equal(used(), usage)
			if test.end == nil {
				is.NoErr(ended)
			} else {
				is.Equal(cmp.Diff(*providertest.Error(t, ended), test.want), "")
			}
			is.NoErr(c.Done())
			pictures, err := filepath.Glob(filepath.Join(dir, "*.png"))
			is.NoErr(err)
			is.Equal(len(pictures), 2) // to be looked at
		})
	}
}

// Of an image that broke off, the cassette has what came, which is broken too.
func TestBrokenImage(t *testing.T) {
	is := is.New(t)
	cut := io.MultiReader(strings.NewReader("\x89PNG"), iotest.ErrReader(io.ErrUnexpectedEOF))
	fox := providertest.Request("a fox", 1)
	dir := record(t, scripted{Provider: &provider.Fake{}, pictures: []io.Reader{cut}}, fox)
	images, ended := providertest.Read(t.Context(), replay(t, dir), fox)
	is.NoErr(ended)
	is.Equal(images, []string{"\x89PNG"})
}

// A call that was not recorded ends with what differs from the nearest one, costs nothing, and is not tried again.
func TestUnknownCalls(t *testing.T) {
	fox := providertest.Request("a fox", 1)
	fox.References = []imagegen.ProviderReference{providertest.Reference("image/png", "a photo", 8, 8)}
	other := providertest.Request("something else altogether", 4)
	other.Tier = imagegen.Tier4K
	dir := record(t, scripted{Provider: &provider.Fake{}}, other, fox)
	for change, want := range map[string]struct {
		make func(*imagegen.ProviderRequest)
		says []string
	}{
		"prompt": {func(r *imagegen.ProviderRequest) { r.Prompt = "a hen" }, []string{"a hen", "a fox"}},
		"number": {func(r *imagegen.ProviderRequest) { r.N = 2 }, []string{"n: 2", "n: 1"}},
		"size": {func(r *imagegen.ProviderRequest) { r.Size = imagegen.Size{Width: 64, Height: 48} },
			[]string{"size: 64x48", "size: auto"}},
		"quality": {func(r *imagegen.ProviderRequest) { r.Quality = imagegen.QualityHigh }, []string{"high", "auto"}},
		"seed":    {func(r *imagegen.ProviderRequest) { r.Options.Seed = new(int64(7)) }, []string{"Seed", "7"}},
		"reference": {func(r *imagegen.ProviderRequest) {
			r.References = []imagegen.ProviderReference{providertest.Reference("image/png", "a drawing", 8, 8)}
		}, []string{"file 1"}},
		"no reference": {func(r *imagegen.ProviderRequest) { r.References = nil }, []string{"file 1"}},
		"mask": {func(r *imagegen.ProviderRequest) {
			r.Mask = new(providertest.Reference("image/png", "a mask", 8, 8))
		}, []string{"file 2", "mask: true"}},
		"job": {func(r *imagegen.ProviderRequest) { r.Job = []byte("task 7") }, []string{"job: true", "job: false"}},
	} {
		t.Run(change, func(t *testing.T) {
			is := is.New(t)
			c, r := replay(t, dir), fox
			want.make(&r)
			images, ended := providertest.Read(t.Context(), c, r)
			is.Equal(len(images), 0)
			is.Equal(providertest.Error(t, ended).Class, imagegen.ClassInvalid)
			for _, text := range want.says {
				is.True(strings.Contains(ended.Error(), text))
			}
			is.True(!strings.Contains(ended.Error(), "altogether")) // the other call differs more
			done := c.Done().Error()
			is.True(strings.Contains(done, want.says[0])) // a test learns it, though an engine tells no caller
			is.True(strings.Contains(done, "nobody made 2 calls"))
		})
	}
}

// Each recorded call answers one, in their order.
func TestEachAnswerOnce(t *testing.T) {
	is := is.New(t)
	transient := &provider.Fake{Script: func(imagegen.ProviderRequest) provider.Faults {
		return provider.Faults{Transient: 1}
	}}
	fox := providertest.Request("a fox", 1)
	c := replay(t, record(t, transient, fox, fox))
	_, first := providertest.Read(t.Context(), c, fox)
	is.True(providertest.Error(t, first).Class.Transient())
	is.True(strings.Contains(c.Done().Error(), "nobody made 1 calls"))
	images, second := providertest.Read(t.Context(), c, fox)
	is.NoErr(second)
	is.Equal(len(images), 1)
	is.NoErr(c.Done())
	_, third := providertest.Read(t.Context(), c, fox)
	is.True(strings.Contains(third.Error(), "replayed already"))
}

// No key, no signature and no reference image comes into a cassette.
func TestNoSecrets(t *testing.T) {
	is := is.New(t)
	secrets := []string{"sk-proj-0123456789abcdefghijklmnop", "0f8e9c1a-7b6d-4e5f-8a9b-0c1d2e3f4a5b",
		"Signature=c2VjcmV0", "a photo of my child", "task-handle-with-a-token"}
	r := providertest.Request("a fox", 1)
	r.Job = []byte(secrets[4])
	r.References = []imagegen.ProviderReference{providertest.Reference("image/png", secrets[3], 8, 8)}
	cause := errors.New(`Get "https://upstream.example/a?` + secrets[2] + `": bearer ` + secrets[1] + " is unknown")
	dir := record(t, scripted{Provider: &provider.Fake{},
		end: &imagegen.ProviderError{Message: "wrong key " + secrets[0], Err: cause}}, r)
	files, err := os.ReadDir(dir)
	is.NoErr(err)
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
		is.NoErr(err)
		for _, secret := range secrets {
			is.True(!strings.Contains(string(raw), secret))
		}
		is.True(strings.Contains(string(raw),
			`wrong key […]: Get \"https://upstream.example/a[…]\": bearer […] is unknown`))
	}
}

// A call that ended with its context goes on in the replay until the context ends, and no longer.
func TestCancelled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	call := func(t *testing.T, open func(string, imagegen.Provider) (*cassette.Cassette, error), within time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			c, err := open(dir, &provider.Fake{})
			is.NoErr(err)
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			began := time.Now()
			_, ended := providertest.Read(ctx, c, providertest.Request("[fake:hang]", 1))
			is.True(errors.Is(ended, context.DeadlineExceeded))
			is.Equal(time.Since(began), within)
			is.NoErr(c.Done())
		})
	}
	call(t, cassette.Record, time.Minute)
	call(t, cassette.Replay, time.Hour)
}

// What cannot be written or read fails the call, and stands in Done.
func TestFiles(t *testing.T) {
	is := is.New(t)
	dir := filepath.Join(t.TempDir(), "new")
	fox := providertest.Request("a fox", 1)
	c, err := cassette.Record(dir, &provider.Fake{})
	is.NoErr(err)
	is.NoErr(os.Remove(dir))
	_, ended := providertest.Read(t.Context(), c, fox)
	is.True(errors.Is(ended, fs.ErrNotExist))
	is.True(errors.Is(c.Done(), fs.ErrNotExist))

	_, err = cassette.Replay(dir, &provider.Fake{})
	is.True(errors.Is(err, fs.ErrNotExist))

	dir = record(t, &provider.Fake{}, fox)
	pictures, err := filepath.Glob(filepath.Join(dir, "*.png"))
	is.NoErr(err)
	is.NoErr(os.Remove(pictures[0]))
	_, ended = providertest.Read(t.Context(), replay(t, dir), fox)
	is.True(errors.Is(ended, fs.ErrNotExist))
}

// A cassette has the optional methods of what it records.
func TestOptionalMethods(t *testing.T) {
	is := is.New(t)
	providertest.Forwards(t, &cassette.Cassette{}, struct {
		imagegen.Provider
		provider.Forward
	}{})
	c := replay(t, record(t, &provider.Fake{}, providertest.Request("a fox", 1)))
	is.Equal(providertest.Error(t, c.Check(providertest.Request("[fake:nonsense]", 1))).Class, imagegen.ClassInvalid)
}
