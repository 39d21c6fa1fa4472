package browsertest_test

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// mask writes a mask that leaves the whole reference to be made anew, and returns the path of its file.
func (s *site) mask() string {
	s.Helper()
	path := filepath.Join(s.TempDir(), "sky.png")
	f, err := os.Create(path)
	s.is.NoErr(err)
	defer f.Close()
	s.is.NoErr(png.Encode(f, image.NewNRGBA(image.Rect(0, 0, 240, 240))))
	return path
}

// A chosen mask appears in the samples, and is sent with the reference.
func TestMask(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	tab := s.signedIn(alice)
	tab.fill("Prompt", "A red fox in fresh snow")
	tab.attach("Reference images", s.reference())
	tab.unfold("Add a mask")
	tab.attach("Mask", s.mask())
	tab.shows(`-F 'mask=@"sky.png"'`)
	tab.click("Generate") // the page stays
	tab.shows("Balance 9", "succeeded")
	p, err := s.As(alice.ID).Generations(t.Context(), imagegen.Query{})
	s.is.NoErr(err)
	s.is.True(len(p.Generations) == 1 && p.Generations[0].Masked)
}
