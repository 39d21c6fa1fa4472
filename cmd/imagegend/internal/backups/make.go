package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// make makes a backup of a moment. Under its name there is nothing, or an archive that is durable and was verified.
func (s *Schedule) make(ctx context.Context, at time.Time) (Archive, error) {
	if err := s.look(ctx); err != nil { // before all the work
		return Archive{}, err
	}
	if err := s.fits(); err != nil {
		return Archive{}, err
	}
	f, err := os.CreateTemp(s.Dir, partial)
	if err != nil {
		return Archive{}, err
	}
	defer os.Remove(f.Name()) // which it may have no more
	size, err := s.fill(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return Archive{}, err
	}
	a := Archive{Name: name(at), At: at.UTC().Truncate(time.Millisecond), Size: size}
	if err := s.Store.Put(ctx, f.Name(), a.Name); err != nil {
		return Archive{}, fmt.Errorf("it could not be put into %v: %w", s.Store, err)
	}
	return a, nil
}

// prune removes the oldest archives beyond those that are kept, and what of others was left half made.
func (s *Schedule) prune(ctx context.Context) error {
	all, err := list(ctx, s.Store)
	if err != nil {
		return err
	}
	errs := []error{s.Store.Tidy(ctx)}
	for _, a := range all[:max(0, len(all)-s.Keep)] {
		errs = append(errs, s.Store.Remove(ctx, a.Name))
	}
	return errors.Join(append(errs, s.look(ctx))...)
}

// fill writes an archive into a file and verifies what the file holds then.
func (s *Schedule) fill(ctx context.Context, f *os.File) (size int64, err error) {
	if err := s.Write(ctx, f); err != nil {
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
	if err := s.verify(ctx, f); err != nil {
		return 0, fmt.Errorf("what was written could not be restored: %w", err)
	}
	return size, nil
}

func (s *Schedule) verify(ctx context.Context, r io.Reader) error {
	dir, err := os.MkdirTemp(s.Dir, scratch)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return s.Restore(ctx, r, dir)
}

// fits refuses to begin where an archive as large as the last one, and what is restored of it, would fill the disk.
func (s *Schedule) fits() error {
	space, err := s.Space(s.Dir)
	if err != nil {
		return err
	}
	if need := 2*s.State().Last.Size + space.Reserve; space.Free < need {
		return fmt.Errorf("there are %d MiB free in %s, and a backup with what is restored of it takes %d; make room, or keep fewer (--backup-keep)",
			space.Free>>20, s.Dir, need>>20)
	}
	return nil
}
