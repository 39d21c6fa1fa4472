package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/imagegend/imagegend/imagegen"
)

// spooled is a reference image in the spool, as a provider sees it.
type spooled struct {
	spool imagegen.Spool
	file  imagegen.ReferenceFile
}

// Open reads the file before anybody else does: a provider gets what was accepted, or nothing.
func (s spooled) Open(ctx context.Context) (io.ReadCloser, error) {
	f, err := s.spool.Open(ctx, s.file.ID)
	if err != nil {
		return nil, err
	}
	if err := s.verify(ctx, f); err != nil {
		_ = f.Close()
		return nil, err
	}
	if again, ok := f.(io.Seeker); ok {
		if _, err := again.Seek(0, io.SeekStart); err == nil {
			return f, nil
		}
	}
	_ = f.Close()
	return s.spool.Open(ctx, s.file.ID)
}

// verify reads the file to its end.
func (s spooled) verify(ctx context.Context, f io.Reader) error {
	hash := sha256.New()
	n, err := io.Copy(hash, &body{ctx: ctx, r: f})
	if err != nil {
		return fmt.Errorf("imagegen: reference image %s cannot be read: %w", s.file.ID, err)
	}
	if n != s.file.Size || [32]byte(hash.Sum(nil)) != s.file.SHA256 {
		return fmt.Errorf("imagegen: reference image %s is damaged: it is no longer what was accepted", s.file.ID)
	}
	return nil
}
