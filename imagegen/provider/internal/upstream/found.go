package upstream

import (
	"context"
	"slices"
	"strings"
)

// Found yields the images of an answer that is read while it arrives: those that are in it at once, and those that it
// names when it has been read. The zero value, with N and Yield set, is ready for use.
type Found struct {
	N     int // how many images were asked for; a surplus is ignored
	Yield Yield

	inline [][]int // the places of images that were inside
	in     string  // the path of the object that had the last of them
	links  Named   // what came in place of images: addresses, and what may mean nothing
	came   int     // images so far, in whatever form, wanted or not
	last   []int   // the place of the last of them
}

// Take takes a string that stands where images do: an image in base64 or as a data: URL, or else an address. An empty
// one is nothing: some send it beside the other way. Others send "None" or the path of a file, so a string that does
// not begin as an image is only noted: another form of the same image is preferred. Take returns false when an image
// turns out to be the last that is wanted; it ignores those behind.
func (f *Found) Take(s String) (wanted bool, err error) {
	begin := strings.TrimLeft(s.Beginning(maxIndent+len("https:")), whiteSpace)
	if begin != "" && (f.came == 0 || !sameImage(f.last, s.Places)) {
		f.came, f.last = f.came+1, slices.Clone(s.Places)
	}
	if len(f.inline) == f.N {
		return true, nil
	}
	in := s.Path[:max(0, strings.LastIndexByte(s.Path, '.'))]
	switch {
	case begin == "": // a broken answer is found broken by the next step
		return true, nil
	case isImage(begin):
		if n := len(f.inline); n > 0 && len(s.Places) > 0 && in == f.in && slices.Equal(f.inline[n-1], s.Places) {
			return true, nil // the same image in another form
		}
		f.in, f.inline = in, append(f.inline, slices.Clone(s.Places))
		if wanted = f.Yield(Base64(s)); !wanted {
			f.N = len(f.inline)
		}
		return wanted, nil
	}
	text := s.Message
	if isAddress(begin) {
		text = s.Text // which does not cut an address to another one
	}
	link, err := text()
	f.links.Add(namedImage{slices.Clone(s.Places), in, strings.Trim(link, whiteSpace)}, f.N)
	return true, err
}

// maxIndent is how much white space may come before an image or an address.
const maxIndent = 16

// isImage reports whether a string with this beginning is an image: a data: URL, or a PNG, a JPEG or a WebP in base64,
// of either alphabet. The shortest of their beginnings has four letters.
func isImage(begin string) bool {
	if len(begin) >= len("data:") && strings.EqualFold(begin[:len("data:")], "data:") {
		return true
	}
	return slices.ContainsFunc([]string{"iVBOR", "/9j/", "_9j_", "UklGR"}, func(s string) bool {
		return strings.HasPrefix(begin, s)
	})
}

// None reports whether the answer had no image so far.
func (f *Found) None() bool { return len(f.inline)+len(f.links) == 0 }

// Surplus is how many images of an answer that has been read are not wanted.
func (f *Found) Surplus() int64 { return int64(max(0, f.came-f.N)) }

// Fetch yields the images that were named and did not also come inside, one after the other, and is [Patient]. An image
// that cannot be fetched does not cost the others; the last such error is returned at the end. The error is nil if no
// more are wanted, and the context's cause if ctx ends.
func (f *Found) Fetch(ctx context.Context, c *Client) error {
	var missing []string
	for _, i := range f.links {
		if !slices.ContainsFunc(f.inline, func(places []int) bool { return sameImage(places, i.places) }) {
			missing = append(missing, i.address)
		}
	}
	_, err := Deliver(ctx, missing, f.N-len(f.inline), Patient(c.fetchNamed), f.Yield)
	return err
}
