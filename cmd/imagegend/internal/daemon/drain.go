package daemon

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen/account"
)

const (
	// answersGrace bounds how long answers may take to be sent after all work has ended.
	answersGrace = 5 * time.Second
	// failureGrace bounds the same after the disk has failed.
	failureGrace = 2 * time.Second
)

// drain ends the service in order. From the first moment no new work is taken, while reads go on; running work has
// DrainTimeout to end. A second signal makes drain return at once and leave the rest to the next start, which
// finishes or refunds what was under way. A disk that fails meanwhile ends it likewise, with ErrDisk.
func (d *daemon) drain() error {
	// main stopped listening for signals after the first one. Without this channel the second would kill the process.
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	d.notify("STOPPING=1")
	// Calls that arrive from here on get no work, so they are not waited for.
	d.answers.close()
	d.log.Info("draining: no new work; a second signal ends it at once", "limit", d.options.DrainTimeout.String())

	// The channel has room, so that the goroutine ends even if nobody waits for it any more.
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

// stopAll stops everything, in an order in which each part needs only those that stop later: a backup under way is
// cancelled, the engine stops, reads go on for a moment, the servers stop, the audit trail gets its last row, and the
// data is closed.
func (d *daemon) stopAll() error {
	work, cancel := context.WithTimeout(context.Background(), d.options.DrainTimeout)
	defer cancel()
	d.backups.cancel()
	err := d.engine.Stop(work)
	d.linger()
	d.shutDown(answersGrace)
	d.backups.running.Wait()
	d.hooks.stop()
	d.noteAct(account.WithActor(context.Background(), itself), account.ActServeStop, account.TrailDone, "")
	return errors.Join(err, d.db.Close())
}

// linger goes on serving reads for a moment if a synchronous call was just answered: its caller has yet to fetch the
// images. With --dev the caller is the person who ends the service, so it does not wait.
func (d *daemon) linger() {
	if d.options.Dev {
		return
	}
	if more := d.answers.remains(answersGrace); more > 0 {
		d.log.Info("all work has ended; reads are served for a moment longer", "seconds", more.Seconds())
		time.Sleep(more)
	}
}

// shutDown stops the servers. Answers have until limit to be sent; then their connections are closed.
func (d *daemon) shutDown(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if d.listener.finish(ctx, d.http) != nil {
		d.http.Close()
	}
	if d.admin.Shutdown(ctx) != nil {
		d.admin.Close()
	}
	d.ops.shutDown(ctx)
}

// abandon ends the service after the disk failed under a commit. Going on would make matters worse: callers learn
// that the outcome is unknown, and nothing more is written. The data is not closed, and the engine is asked to stop
// but not waited for, since either could hang on the disk; the process exits.
func (d *daemon) abandon() error {
	d.log.Error("the disk failed under a commit: the service stops", "error", d.db.Err())
	now, cancel := context.WithCancel(context.Background())
	cancel()
	go d.engine.Stop(now)
	d.shutDown(failureGrace)
	return adminserver.ErrDisk
}
