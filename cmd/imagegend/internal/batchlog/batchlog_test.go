package batchlog_test

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/batchlog"
)

// file counts the lines written to it; a timer may write while the test reads.
type file struct{ lines atomic.Int64 }

func (f *file) Write(b []byte) (int, error) {
	f.lines.Add(int64(bytes.Count(b, []byte("\n"))))
	return len(b), nil
}

// open returns a log, the file that it is written to, and its flush.
func open() (log *slog.Logger, written *file, flush func()) {
	written = new(file)
	h, flush := batchlog.New(written, func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) })
	return slog.New(h), written, flush
}

func TestLinesWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		log, written, _ := open()
		for range 3 {
			log.With("user", "alice").WithGroup("g").Info("request")
		}
		time.Sleep(batchlog.Delay - 1)
		is.Equal(written.lines.Load(), int64(0))
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		is.Equal(written.lines.Load(), int64(3))
		log.Info("request") // and once more
		time.Sleep(batchlog.Delay)
		synctest.Wait()
		is.Equal(written.lines.Load(), int64(4))
	})
}

func TestWhatIsWrongIsWrittenAtOnce(t *testing.T) {
	is := is.New(t)
	log, written, flush := open()
	log.Info("request")
	log.With("disk", "full").Warn("trouble")
	is.Equal(written.lines.Load(), int64(2))
	log.Info("stopped")
	flush()
	flush()
	is.Equal(written.lines.Load(), int64(3))
}

func TestManyLinesDoNotWait(t *testing.T) {
	is := is.New(t)
	log, written, _ := open()
	for range 64 {
		log.Info(strings.Repeat("x", 1<<10))
	}
	is.True(written.lines.Load() > 0)
}
