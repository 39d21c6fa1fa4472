package storagetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Spool tests an [imagegen.Spool]. open returns an empty one.
func Spool(t *testing.T, open func(t *testing.T) imagegen.Spool) {
	for name, test := range map[string]func(*spool){
		"Stage":           testStage,
		"StageFails":      testStageFails,
		"Keep":            testKeep,
		"Remove":          testRemove,
		"Race":            testSpoolRace,
		"EndedContext":    testSpoolEndedContext,
		"OptionalMethods": func(s *spool) { testOptionalMethods(s.t, s.Spool) },
	} {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Spool/"+name)
			test(&spool{open(t), t, is.New(t)})
		})
	}
}

// spool is a Spool under test.
type spool struct {
	imagegen.Spool
	t  *testing.T
	is *is.I
}

func (s *spool) stage(id imagegen.ReferenceID, b []byte) {
	s.t.Helper()
	s.is.NoErr(s.Stage(s.t.Context(), id, bytes.NewReader(b)))
}

func (s *spool) has(id imagegen.ReferenceID, want []byte) {
	s.t.Helper()
	f, err := s.Open(s.t.Context(), id)
	s.is.NoErr(err)
	got, err := io.ReadAll(f)
	s.is.NoErr(err)
	s.is.True(bytes.Equal(want, got))
	s.is.NoErr(f.Close())
}

func (s *spool) lacks(id imagegen.ReferenceID) {
	s.t.Helper()
	_, err := s.Open(s.t.Context(), id)
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
}

func testStage(s *spool) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 100_000)
	s.lacks("ref_1")
	s.stage("ref_1", []byte("one"))
	s.stage("ref_2", nil)
	s.stage("ref_3", big)
	for range 2 { // again and again
		s.has("ref_1", []byte("one"))
		s.has("ref_2", nil)
		s.has("ref_3", big)
	}
	s.lacks("ref_4")
}

func testStageFails(s *spool) {
	broken := errors.New("the client hung up")
	for _, sent := range []string{"", "half", strings.Repeat("x", 1<<20)} {
		r := io.MultiReader(strings.NewReader(sent), iotest.ErrReader(broken))
		s.is.True(errors.Is(s.Stage(s.t.Context(), "ref_1", r), broken))
		s.lacks("ref_1")
	}
	s.stage("ref_1", []byte("whole"))
	s.has("ref_1", []byte("whole"))
}

func testKeep(s *spool) {
	s.stage("ref_1", []byte("one"))
	s.stage("ref_2", []byte("two"))
	s.is.NoErr(s.Keep(s.t.Context()))
	for range 2 {
		s.is.NoErr(s.Keep(s.t.Context(), "ref_1", "ref_2"))
	}
	s.has("ref_1", []byte("one"))
	s.has("ref_2", []byte("two"))
	s.is.True(s.Keep(s.t.Context(), "ref_1", "ref_3") != nil) // what is not there cannot be kept
}

func testRemove(s *spool) {
	for _, id := range []imagegen.ReferenceID{"ref_1", "ref_2", "ref_3"} {
		s.stage(id, []byte("bytes"))
	}
	s.is.NoErr(s.Keep(s.t.Context(), "ref_1", "ref_2"))
	opened, err := s.Open(s.t.Context(), "ref_1")
	s.is.NoErr(err)
	defer opened.Close()
	s.is.NoErr(s.Remove(s.t.Context()))
	for range 2 { // that there are none is success
		s.is.NoErr(s.Remove(s.t.Context(), "ref_1", "ref_3", "ref_unknown"))
	}
	s.lacks("ref_1")
	s.lacks("ref_3")
	s.has("ref_2", []byte("bytes"))
	got, err := io.ReadAll(opened) // it was open before the removal
	s.is.NoErr(err)
	s.is.Equal(string(got), "bytes")
}

func testSpoolRace(s *spool) {
	const callers = 16
	s.stage("ref_shared", []byte("shared"))
	var (
		wg   sync.WaitGroup
		errs [callers]error
	)
	for n := range callers {
		wg.Go(func() {
			id := imagegen.ReferenceID("ref_" + string(rune('a'+n)))
			errs[n] = errors.Join(
				s.Stage(s.t.Context(), id, strings.NewReader("bytes")),
				s.Keep(s.t.Context(), id, "ref_shared"),
				readSpooled(s.t.Context(), s, id), readSpooled(s.t.Context(), s, "ref_shared"),
				s.Remove(s.t.Context(), id))
		})
	}
	wg.Wait()
	for _, err := range errs {
		s.is.NoErr(err)
	}
	s.has("ref_shared", []byte("shared"))
}

func readSpooled(ctx context.Context, s imagegen.Spool, id imagegen.ReferenceID) error {
	f, err := s.Open(ctx, id)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, f)
	return errors.Join(err, f.Close())
}

func testSpoolEndedContext(s *spool) {
	ctx, cancel := context.WithCancel(s.t.Context())
	cancel()
	s.is.True(s.Stage(ctx, "ref_1", strings.NewReader("bytes")) != nil)
	s.lacks("ref_1")
	s.stage("ref_2", []byte("bytes"))
	s.is.True(s.Keep(ctx, "ref_2") != nil)
}
