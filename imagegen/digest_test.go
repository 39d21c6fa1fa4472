package imagegen

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"
)

func TestDigest(t *testing.T) {
	for _, n := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 20*chunkSize + 7} {
		for _, step := range []int{7 << 10, chunkSize, 3 * chunkSize} {
			synctest.Test(t, func(t *testing.T) { // which ends only when the digest's goroutine has
				is := is.New(t)
				b := bytes.Repeat([]byte("0123456789a"), n/11+1)[:n]
				d := newDigest()
				for left := b; len(left) > 0; left = left[min(step, len(left)):] {
					part := bytes.Clone(left[:min(step, len(left))])
					d.write(part)
					clear(part) // it is the writer's again
				}
				is.Equal(d.sum(), sha256.Sum256(b))
				is.Equal(d.sum(), sha256.Sum256(b))
			})
		}
	}
}
