package rules

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/imagegend/imagegend/imagegen"
)

// File is a file that a record names: an image, or a reference image that a later attempt needs.
type File struct {
	Key    imagegen.ImageKey    // of a reference image only the generation
	Upload imagegen.ReferenceID // "" for an image
	Size   int64                // in bytes
	SHA256 [sha256.Size]byte
}

// Images returns the images whose files must exist: from the moment an image is shown or its outcome is recorded until
// its erasure begins. Thumbnails are not among them; they are made anew when they are looked at.
func Images(r imagegen.Record) (all []File) {
	if r.State == imagegen.StateErasing {
		return nil
	}
	for _, i := range r.Images {
		all = append(all, File{Key: r.ImageKey(i), Size: i.Size, SHA256: i.SHA256})
	}
	return all
}

// References returns the reference images that another attempt needs. Synchronous work will have no other attempt.
func References(r imagegen.Record) (all []File) {
	if !Waits(r) {
		return nil
	}
	for _, f := range r.References {
		all = append(all, File{Key: imagegen.ImageKey{Generation: r.ID}, Upload: f.ID, Size: f.Size, SHA256: f.SHA256})
	}
	return all
}

// String names the file for an operator.
func (f File) String() string {
	if f.Upload != "" {
		return fmt.Sprintf("reference image %s of generation %s", f.Upload, f.Key.Generation)
	}
	return fmt.Sprintf("image %s of generation %s", f.Key.Image, f.Key.Generation)
}

// Compare reads a file to its end and returns how it differs from its record, in words that follow its name.
func (f File) Compare(r io.Reader) error {
	hash := sha256.New()
	n, err := io.Copy(hash, r)
	switch {
	case err != nil:
		return fmt.Errorf("cannot be read: %w", err)
	case n != f.Size:
		return fmt.Errorf("has %d bytes; its record says %d", n, f.Size)
	case [sha256.Size]byte(hash.Sum(nil)) != f.SHA256:
		return errors.New("has another SHA-256 than its record says")
	}
	return nil
}
