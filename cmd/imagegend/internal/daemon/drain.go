package daemon

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
)

const (
	// answersGrace is how long answers may take to leave once all work has ended.
	answersGrace = 5 * time.Second
	// failureGrace is how long answers may take to leave when the disk has failed.
	failureGrace = 2 * time.Second
)

// drain ends the service in order. The engine takes no new work at once, while what is there can
// still be read, also for a moment after the last answer; then the servers end, then the database is
// closed.
func (d *daemon) drain() error {
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	d.notify("STOPPING=1")
	d.answers.close()
	d.log.Info("draining: no new work; a second signal ends it at once", "limit", d.options.DrainTimeout.String())

	drained := make(chan error, 1)
	go func() { drained <- d.stopAll() }()
	select {
	case err := <-drained:
		d.log.Info("stopped")
		return err
	case <-again:
		d.log.Warn("stopped at once: the next start takes up, or refunds, what was under way")
		return nil
	case <-d.db.Failed():
		return d.abandon()
	}
}

func (d *daemon) stopAll() error {
	work, cancel := context.WithTimeout(context.Background(), d.options.DrainTimeout)
	defer cancel()
	d.backups.cancel()
	err := d.engine.Stop(work)
	d.linger()
	d.shutDown(answersGrace)
	d.backups.wait()
	d.noteStop()
	return errors.Join(err, d.db.Close())
}

// linger goes on serving reads for a moment, if somebody was answered who may want to read: what a
// sandbox holds is for whoever ends it.
func (d *daemon) linger() {
	if d.options.Dev {
		return
	}
	if more := d.answers.remains(answersGrace); more > 0 {
		d.log.Info("all work has ended; reads are served for a moment longer", "seconds", more.Seconds())
		time.Sleep(more)
	}
}

// shutDown lets answers leave, but not for ever.
func (d *daemon) shutDown(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if d.http.Shutdown(ctx) != nil {
		d.http.Close()
	}
	if d.admin.Shutdown(ctx) != nil {
		d.admin.Close()
	}
	d.ops.shutDown(ctx)
}

// abandon ends the service after the disk failed under a commit. To go on would make it worse: who
// waits is answered that the outcome is unknown, nothing more is written.
func (d *daemon) abandon() error {
	d.log.Error("the disk failed under a commit: the service stops", "error", d.db.Err())
	now, cancel := context.WithCancel(context.Background())
	cancel()
	go d.engine.Stop(now)
	d.shutDown(failureGrace)
	return admin.ErrDisk
}
