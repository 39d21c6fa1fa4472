package batchlog_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/batchlog"
)

// open returns a log, what has been written of it, and its flush.
func open() (log *slog.Logger, written *strings.Builder, flush func()) {
	written = new(strings.Builder)
	h, flush := batchlog.New(written, func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) })
	return slog.New(h), written, flush
}

func lines(written *strings.Builder) int { return strings.Count(written.String(), "\n") }

func TestLinesWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		log, written, _ := open()
		for range 3 {
			log.With("user", "alice").WithGroup("g").Info("request")
		}
		time.Sleep(batchlog.Delay - 1)
		is.Equal(lines(written), 0)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		is.Equal(lines(written), 3)
		log.Info("request") // and once more
		time.Sleep(batchlog.Delay)
		synctest.Wait()
		is.Equal(lines(written), 4)
	})
}

func TestWhatIsWrongIsWrittenAtOnce(t *testing.T) {
	is := is.New(t)
	log, written, flush := open()
	log.Info("request")
	log.With("disk", "full").Warn("trouble")
	is.Equal(lines(written), 2)
	log.Info("stopped")
	flush()
	flush()
	is.Equal(lines(written), 3)
}

func TestManyLinesDoNotWait(t *testing.T) {
	is := is.New(t)
	log, written, _ := open()
	for range 64 {
		log.Info(strings.Repeat("x", 1<<10))
	}
	is.True(lines(written) > 0)
}
