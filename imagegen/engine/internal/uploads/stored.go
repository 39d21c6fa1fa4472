package uploads

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/stream"
)

// Stored is a reference image in the spool, as a provider sees it.
type Stored struct {
	Spool imagegen.Spool
	File  imagegen.ReferenceFile
}

// Open verifies the whole file before it returns it: a provider gets exactly what was
// accepted, or an error. The caller closes what it returns. If files of the Spool cannot
// seek, the file is opened anew after it was verified.
func (s Stored) Open(ctx context.Context) (io.ReadCloser, error) {
	f, err := s.Spool.Open(ctx, s.File.ID)
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
	return s.Spool.Open(ctx, s.File.ID)
}

// verify reads the file to its end and compares size and hash.
func (s Stored) verify(ctx context.Context, f io.Reader) error {
	hash := sha256.New()
	n, err := io.Copy(hash, &stream.Body{Ctx: ctx, R: f})
	if err != nil {
		return fmt.Errorf("imagegen: reference image %s cannot be read: %w", s.File.ID, err)
	}
	if n != s.File.Size || [32]byte(hash.Sum(nil)) != s.File.SHA256 {
		return fmt.Errorf("imagegen: reference image %s is damaged: it is no longer what was accepted", s.File.ID)
	}
	return nil
}
