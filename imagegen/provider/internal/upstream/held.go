package upstream

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/sync/semaphore"
)

// inMemory is how many bytes of what is held stay in memory.
const inMemory = 4 << 20

// Held is content that was read to its end before it was known whether it is wanted. The first 4 MiB are in memory,
// the rest is in a file without a name in the system's temporary directory. What that does not take is in memory too,
// since it may have been paid for. It can be read once.
type Held struct {
	io.Reader
	file   *os.File // nil: there is none
	inFile int64
	rest   []byte // behind what is in the file
}

// besideFiles bounds the bytes in memory that files did not take.
var besideFiles = semaphore.NewWeighted(64 << 20)

var errNowhere = errors.New("the temporary directory takes no file, and 64 MiB are held in memory already: make room in it")

// Hold reads r to its end. The caller closes the result, also if it was not read. An error is that of r, or says that
// there is no room for what it holds; nothing is held then.
func Hold(r io.Reader) (*Held, error) {
	var begin bytes.Buffer
	if n, err := io.CopyN(&begin, r, inMemory); err == io.EOF {
		return &Held{Reader: &begin}, nil
	} else if err != nil || n < inMemory {
		return nil, err
	}
	h := &Held{}
	if file, err := os.CreateTemp("", "imagegen-held-"); err == nil {
		h.file = file
		os.Remove(file.Name()) // a system that cannot remove an open file leaves it behind
	}
	if _, err := io.Copy(holder{h}, r); err != nil {
		h.Close()
		return nil, err
	}
	h.Reader = io.MultiReader(&begin, io.NewSectionReader(h.file, 0, h.inFile), bytes.NewReader(h.rest))
	return h, nil
}

// holder writes to what is held.
type holder struct{ *Held }

// Write implements [io.Writer].
func (h holder) Write(p []byte) (n int, err error) {
	if h.file != nil && len(h.rest) == 0 {
		n, err = h.file.Write(p)
		if h.inFile += int64(n); err == nil {
			return n, nil
		}
	}
	if !besideFiles.TryAcquire(int64(len(p) - n)) {
		return n, errNowhere
	}
	h.rest = append(h.rest, p[n:]...)
	return len(p), nil
}

// Close releases the content, which cannot be read any more.
func (h *Held) Close() {
	if h.file != nil {
		h.file.Close()
	}
	besideFiles.Release(int64(len(h.rest)))
	h.rest = nil
}
