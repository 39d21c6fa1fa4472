package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// smallest are images with as few bytes as there can be, by their edge.
func smallest() map[int][]byte {
	var line, photo bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	for _, err := range []error{
		encoder.Encode(&line, image.NewPaletted(image.Rect(0, 0, 1024, 1024), color.Palette{color.Black})),
		jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 16, 16)), nil),
	} {
		if err != nil {
			panic(err)
		}
	}
	return map[int][]byte{1024: line.Bytes(), 16: photo.Bytes(), 64: webpOf(64)}
}

// webpOf is a lossless WebP of one colour.
func webpOf(edge int) []byte {
	pixels := append([]byte{0x2f}, binary.LittleEndian.AppendUint32(nil, uint32((edge-1)|(edge-1)<<14))...)
	pixels = append(pixels, 0x88, 0x88, 0x08) // five codes of one symbol each: none takes a bit
	b := append([]byte("RIFF\x14\x00\x00\x00WEBPVP8L"), binary.LittleEndian.AppendUint32(nil, uint32(len(pixels)))...)
	return append(b, pixels...)
}

// delivered asks for each of the images by itself, and returns how many came. Of the others nothing was charged
// and nothing is kept.
func delivered(t *testing.T, v imagegen.Verification, edge int, images ...[]byte) (count int) {
	synctest.Test(t, func(t *testing.T) {
		var sent []byte
		p := yieldBytes().verified(v)
		p.do = func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			yield(imagegen.ProviderImage{Body: bytes.NewReader(sent)}, nil)
		}
		f := startOver(t, p, func(*engine.Config) {})
		for _, sent = range images {
			g, err := f.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: edge, Height: edge}})
			f.is.Equal(err == nil, len(g.Images) == 1)
			if err == nil {
				count++
				continue
			}
			f.is.True(isCode(err, imagegen.ErrGenerationFailed))
			synctest.Wait()
			for _, k := range f.put {
				f.is.True(!f.has(k))
			}
			f.put = nil
		}
		f.is.Equal(f.balance(), imagegen.Credits(100-count))
		f.audit()
	})
	return count
}

func TestAnImageIsCutOffAtAnyByte(t *testing.T) {
	for edge, whole := range smallest() {
		for _, v := range imagegen.Verifications() {
			is := is.New(t)
			is.Equal(delivered(t, v, edge, whole), 1)
			var cut [][]byte
			for n := range whole {
				cut = append(cut, whole[:n])
			}
			is.Equal(delivered(t, v, edge, cut...), 0)
		}
	}
}

// chunk is one of a PNG.
func chunk(kind string, data ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// chunks are those of a PNG.
func chunks(image []byte) (all [][]byte) {
	for rest := image[len(signature):]; len(rest) > 0; {
		n := 12 + binary.BigEndian.Uint32(rest)
		all, rest = append(all, rest[:n]), rest[n:]
	}
	return all
}

const signature = "\x89PNG\r\n\x1a\n"

func joined(chunks ...[]byte) []byte { return append([]byte(signature), slices.Concat(chunks...)...) }

func TestAChecksumIsWrong(t *testing.T) {
	const edge = 500 // several IDAT
	whole := slices.Insert(chunks(noise(edge)), 1, chunk("tEXt", []byte("Title\x00fox")...))
	var wrong [][]byte
	for i := range whole {
		one := bytes.Clone(whole[i])
		one[len(one)-1] ^= 1
		wrong = append(wrong, joined(slices.Concat(whole[:i], [][]byte{one}, whole[i+1:])...))
	}
	for _, v := range imagegen.Verifications() {
		is := is.New(t)
		is.True(len(wrong) > 5)
		is.Equal(delivered(t, v, edge, joined(whole...)), 1)
		is.Equal(delivered(t, v, edge, wrong...), 0)
	}
}

// Damage within the compressed data alone shows only when it is decoded.
func TestTheCompressedDataAreBroken(t *testing.T) {
	images := smallest()
	line := chunks(images[1024])
	pixels := slices.IndexFunc(line, func(c []byte) bool { return string(c[4:8]) == "IDAT" })
	data := line[pixels][8 : len(line[pixels])-4]
	with := func(data []byte) []byte {
		return joined(slices.Concat(line[:pixels], [][]byte{chunk("IDAT", data...)}, line[pixels+1:])...)
	}
	another := func(at int) []byte {
		b := bytes.Clone(data)
		b[at] ^= 0xff
		return b
	}
	photo, webp := bytes.Clone(images[16]), bytes.Clone(images[64])
	scan := bytes.Index(photo, []byte("\xff\xda"))
	copy(photo[bytes.Index(photo, []byte("\xff\xc4")):scan], "\xff\xfe") // the first table of codes is a comment
	webp[len(webp)-3] = 0xff                                             // codes that are none

	for name, c := range map[string]struct {
		edge  int
		image []byte
	}{
		"png, no deflate":                {1024, with(append(data[:2:2], "no deflate"...))},
		"png, cut off":                   {1024, with(data[:len(data)-8])},
		"png, another sum of its pixels": {1024, with(another(len(data) - 1))},
		"png, a byte of its pixels":      {1024, with(another(len(data) / 2))},
		"jpeg, without a table of codes": {16, photo},
		"webp, codes that are none":      {64, webp},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(delivered(t, imagegen.VerifyStructure, c.edge, c.image), 1)
			is.Equal(delivered(t, imagegen.VerifyDecode, c.edge, c.image), 0)
		})
	}
}
