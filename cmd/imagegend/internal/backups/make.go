package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// make makes the backup of a moment. An archive gets its name last, so under that name there is nothing or an archive
// that is durable and verified. The steps: find out whether the store answers and the disk has room, write the
// archive to a temporary file and flush it, restore it into a scratch directory, give it its name.
func (s *Schedule) make(ctx context.Context, at time.Time) (Archive, error) {
	// Asked before the work, since a store that does not answer would take no archive.
	if err := s.look(ctx); err != nil {
		return Archive{}, err
	}
	// Estimate: an archive like the last one, and the directory restored from it.
	if err := s.fits(2 * s.State().Last.Size); err != nil {
		return Archive{}, err
	}
	// In the directory itself, since a rename completes it there.
	f, err := os.CreateTemp(s.Dir, partial)
	if err != nil {
		return Archive{}, err
	}
	defer os.Remove(f.Name()) // fails if Put has renamed it
	size, err := s.writeAndVerify(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return Archive{}, err
	}
	a := Archive{Name: name(at), At: at.UTC().Truncate(time.Millisecond), Size: size}
	if err := s.Store.Put(ctx, f.Name(), a.Name); err != nil {
		return Archive{}, fmt.Errorf("it could not be put into %v: %w", s.Store, err)
	}
	return a, nil
}

// prune removes the oldest archives beyond the number to keep, and what interrupted Puts have left. It runs only
// after a success, so that failing backups never cost a good archive.
func (s *Schedule) prune(ctx context.Context) error {
	all, err := listArchives(ctx, s.Store)
	if err != nil {
		return err
	}
	errs := []error{s.Store.Tidy(ctx)}
	past := Past(all, time.Now())
	for _, a := range past[:max(0, len(past)-s.Keep)] {
		errs = append(errs, s.Store.Remove(ctx, a.Name))
	}
	return errors.Join(append(errs, s.look(ctx))...)
}

// writeAndVerify writes an archive into a file and verifies it by reading the file again, not the stream.
func (s *Schedule) writeAndVerify(ctx context.Context, f *os.File) (size int64, err error) {
	if err := s.Write(ctx, &sparing{w: f, fits: s.fits}); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	if size, err = f.Seek(0, io.SeekEnd); err != nil {
		return 0, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	if err := s.fits(size); err != nil {
		return 0, err
	}
	if err := s.verify(ctx, f); err != nil {
		return 0, fmt.Errorf("what was written could not be restored: %w", err)
	}
	return size, nil
}

// verify restores an archive into a scratch directory, which audits it, and removes the directory.
func (s *Schedule) verify(ctx context.Context, r io.Reader) error {
	dir, err := os.MkdirTemp(s.Dir, scratch)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return s.Restore(ctx, r, dir)
}

// fits returns an error if so many more bytes would use the disk's reserve, below which the service takes no work.
func (s *Schedule) fits(bytes int64) error {
	space, err := s.Space(s.Dir)
	if err != nil {
		return err
	}
	if need := bytes + space.Reserve; space.Free < need {
		return fmt.Errorf("there are %d MiB free in %s, and making and verifying a backup there takes %d; make room",
			space.Free>>20, s.Dir, need>>20)
	}
	return nil
}

// stretch is how many bytes are written between two looks at the disk.
const stretch = 16 << 20

// sparing writes only while the disk has room. The estimate before a backup does not suffice: nobody knows how large
// the first archive will be.
type sparing struct {
	w       io.Writer
	fits    func(bytes int64) error
	written int64 // since the last look
}

// Write implements io.Writer. The error for a full disk is that of fits.
func (s *sparing) Write(p []byte) (int, error) {
	if s.written += int64(len(p)); s.written > stretch {
		s.written = 0
		if err := s.fits(stretch); err != nil {
			return 0, err
		}
	}
	return s.w.Write(p)
}
