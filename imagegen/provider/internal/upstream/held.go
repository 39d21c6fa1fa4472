package upstream

import (
	"bytes"
	"io"
	"os"
)

// inMemory is how much of what is held stays in memory.
const inMemory = 4 << 20

// Held is content that was read to its end before anybody knew whether it is wanted: in memory up to 4 MiB,
// beyond that in an unlinked file in the system's temporary directory.
type Held struct {
	io.Reader
	file *os.File
}

// Hold reads r to its end. The caller closes the result.
func Hold(r io.Reader) (*Held, error) {
	var begin bytes.Buffer
	if n, err := io.CopyN(&begin, r, inMemory); err == io.EOF {
		return &Held{Reader: &begin}, nil
	} else if err != nil || n < inMemory {
		return nil, err
	}
	file, err := os.CreateTemp("", "imagegen-held-")
	if err != nil {
		return nil, err
	}
	h := &Held{Reader: io.MultiReader(&begin, file), file: file}
	os.Remove(file.Name()) // on a system that cannot remove an open file it is left behind
	if _, err = io.Copy(file, r); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// Close lets go of it.
func (h *Held) Close() {
	if h.file != nil {
		h.file.Close()
	}
}
