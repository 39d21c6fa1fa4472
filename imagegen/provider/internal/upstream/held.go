package upstream

import (
	"bytes"
	"io"
	"os"
)

// inMemory is how many bytes of what is held stay in memory.
const inMemory = 4 << 20

// Held is content that was read to its end before it was known whether it is wanted. The first 4 MiB are in memory,
// the rest is in a file without a name in the system's temporary directory. It can be read once.
type Held struct {
	io.Reader
	file *os.File
}

// Hold reads r to its end. The caller closes the result, also if it was not read. An error is that of r, or of
// writing the file; nothing is held then.
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
	os.Remove(file.Name()) // a system that cannot remove an open file leaves it behind
	if _, err = io.Copy(file, r); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// Close releases the content, which cannot be read any more.
func (h *Held) Close() {
	if h.file != nil {
		h.file.Close()
	}
}
