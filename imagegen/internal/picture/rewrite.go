package picture

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// xmpPacket says, in the words of the IPTC, that a model made the picture. An image gets it when it is not
// the file of its maker any more.
const xmpPacket = `<?xpacket begin="` + "\ufeff" + `" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">
<Iptc4xmpExt:DigitalSourceType>http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia</Iptc4xmpExt:DigitalSourceType>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>`

// filter copies an image part by part, in the order of the file. Nothing is decoded.
type filter struct {
	in   *bufio.Reader
	part io.Reader
	next func(*bufio.Reader) (io.Reader, error) // returns the next part, which may be empty
}

// Read implements io.Reader.
func (f *filter) Read(p []byte) (int, error) {
	for {
		n, err := f.part.Read(p)
		if n > 0 || err != io.EOF {
			return n, err
		}
		if f.part, err = f.next(f.in); err != nil {
			return 0, err
		}
	}
}

// Strip returns a reader of the image in r, which was examined, without what its maker wrote beside the pixels: texts,
// EXIF, XMP, a C2PA manifest. Its ICC profile stays. It gets an XMP packet that says that a model made it.
func (h Header) Strip(r io.Reader) io.Reader {
	in := bufio.NewReader(h.Whole(r))
	rest := func(next func(*bufio.Reader) (io.Reader, error)) io.Reader {
		return &filter{in, strings.NewReader(""), next}
	}
	switch xmp := h.format.written(nil, xmpPacket); h.format.Format {
	case imagegen.FormatPNG:
		return io.MultiReader(io.LimitReader(in, pngBeginning), strings.NewReader(xmp), rest(nextPNG))
	case imagegen.FormatJPEG:
		return io.MultiReader(io.LimitReader(in, jpegBeginning(in)), strings.NewReader(xmp), rest(nextJPEG))
	default:
		return io.MultiReader(strings.NewReader(webpBeginning(in, h, len(xmp))), rest(nextWebP), strings.NewReader(xmp))
	}
}

// mark returns a reader of an image as an encoder writes it, with a profile if its pixels can have it, and with an XMP
// packet; "": none.
func (f format) mark(r io.Reader, profile []byte, xmp string) io.Reader {
	if len(profile) < 128 || string(profile[16:20]) != "RGB " { // the pixels are RGB now
		profile = nil
	}
	head := map[imagegen.Format]int64{imagegen.FormatPNG: pngBeginning, imagegen.FormatJPEG: 2}[f.Format]
	return io.MultiReader(io.LimitReader(r, head), strings.NewReader(f.written(profile, xmp)), r)
}

// written is a profile and an XMP packet as a file contains them. There is no profile for WebP.
func (f format) written(profile []byte, xmp string) (parts string) {
	switch f.Format {
	case imagegen.FormatPNG:
		if profile != nil {
			var stream bytes.Buffer
			z := zlib.NewWriter(&stream)
			_, _ = z.Write(profile) // into memory
			_ = z.Close()
			parts = pngChunk("iCCP", "ICC\x00\x00"+stream.String())
		}
		if xmp != "" {
			parts += pngChunk("iTXt", string(xmpKeyword)+"\x00\x00\x00\x00"+xmp) // not compressed, no language
		}
	case imagegen.FormatJPEG:
		if xmp != "" {
			parts = jpegPiece(jpegAPP+1, "http://ns.adobe.com/xap/1.0/\x00"+xmp)
		}
		const most = 0xffff - 2 - 14 // of a profile, in each of several segments, which are numbered
		all := (len(profile) + most - 1) / most
		for i := range all {
			number := string(iccPrefix) + string([]byte{byte(i + 1), byte(all)})
			parts += jpegPiece(jpegAPP+2, number+string(profile[i*most:min((i+1)*most, len(profile))]))
		}
	case imagegen.FormatWebP:
		return webpChunk("XMP ", xmp)
	}
	return parts
}

// chunk returns a chunk of which the head was read, with n bytes that follow; nothing if it is not kept.
func chunk(in *bufio.Reader, head []byte, n int64, kept bool) (io.Reader, error) {
	if !kept {
		_, err := io.CopyN(io.Discard, in, n)
		return strings.NewReader(""), err
	}
	return io.MultiReader(bytes.NewReader(head), io.LimitReader(in, n)), nil
}

const (
	pngBeginning = 8 + 25 // the signature and IHDR
	pngKept      = "PLTE IDAT IEND tRNS iCCP sRGB gAMA cHRM cICP mDCV cLLI sBIT bKGD pHYs"
)

func nextPNG(in *bufio.Reader) (io.Reader, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	return chunk(in, head, int64(binary.BigEndian.Uint32(head))+4, strings.Contains(pngKept, string(head[4:])))
}

func pngChunk(kind, data string) string {
	body := kind + data
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	return string(binary.BigEndian.AppendUint32(append(chunk, body...), crc32.ChecksumIEEE([]byte(body))))
}

// jpegBeginning is how long the beginning of a JPEG is: SOI, and the JFIF header, which must come next.
func jpegBeginning(in *bufio.Reader) int64 {
	if head, err := in.Peek(11); err == nil && string(head[2:4]) == "\xff\xe0" && string(head[6:]) == "JFIF\x00" {
		return 4 + int64(binary.BigEndian.Uint16(head[4:]))
	}
	return 2
}

// nextJPEG returns a segment, with the coded pixels that follow the start of a scan.
func nextJPEG(in *bufio.Reader) (io.Reader, error) {
	head := make([]byte, 4) // 0xff, the marker and the length
	var err error
	for err == nil && !(head[0] == 0xff && opens(head[1])) { // fill bytes and others may come before a marker
		head[0] = head[1]
		head[1], err = in.ReadByte()
	}
	if err != nil {
		return nil, err
	}
	if head[1] == jpegEOI {
		return bytes.NewReader(head[:2]), nil
	}
	if _, err := io.ReadFull(in, head[2:]); err != nil {
		return nil, err
	}
	data := make([]byte, max(2, binary.BigEndian.Uint16(head[2:]))-2)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, err
	}
	segment := bytes.NewReader(append(head, data...))
	switch {
	case head[1] == jpegSOS:
		return io.MultiReader(segment, codedPixels{in}), nil
	case !jpegKeeps(head[1], data):
		return strings.NewReader(""), nil
	}
	return segment, nil
}

// codedPixels reads up to the marker behind the pixels of a scan.
type codedPixels struct{ in *bufio.Reader }

// Read implements io.Reader.
func (c codedPixels) Read(p []byte) (int, error) {
	head, err := c.in.Peek(2)
	if err != nil {
		return 0, err
	}
	if head[0] == 0xff && opens(head[1]) {
		return 0, io.EOF
	}
	within, _ := c.in.Peek(c.in.Buffered())
	n := 1 // an 0xff with what follows is looked at above
	if end := bytes.IndexByte(within[1:], 0xff); end >= 0 {
		n += end
	} else {
		n = len(within)
	}
	return c.in.Read(p[:min(n, len(p))])
}

// jpegKeeps reports whether a segment is needed to display the image: all but those of applications, of which the
// profile and Adobe's note on colours are needed too.
func jpegKeeps(marker byte, data []byte) bool {
	switch {
	case marker == jpegAPP+2:
		return bytes.HasPrefix(data, iccPrefix)
	case marker == jpegAPP+14:
		return bytes.HasPrefix(data, []byte("Adobe"))
	}
	return marker != jpegCOM && (marker < jpegAPP || marker > jpegAPP+15)
}

func jpegPiece(marker byte, data string) string {
	return string(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2))) + data
}

// Flags in the first byte of VP8X.
const (
	webpICC   = 0x20
	webpAlpha = 0x10
	webpEXIF  = 0x08
	webpXMP   = 0x04
)

func webpKeeps(chunk string) bool {
	return chunk == "ICCP" || chunk == "ALPH" || chunk == "VP8 " || chunk == "VP8L"
}

func nextWebP(in *bufio.Reader) (io.Reader, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[4:]))
	return chunk(in, head, n+n%2, webpKeeps(string(head[:4])))
}

// webpBeginning returns the beginning of a WebP up to VP8X, by the first chunk that it had. more is the length of what
// comes behind the chunks that are kept.
func webpBeginning(in *bufio.Reader, h Header, more int) string {
	head, err := in.Peek(12 + 8 + 5)
	if err != nil {
		return "" // the next read fails
	}
	_, _ = in.Discard(12)
	flags, first := byte(webpXMP), head[12:]
	switch string(first[:4]) {
	case "VP8X":
		flags |= first[8] & (webpICC | webpAlpha)
	case "VP8L":
		flags |= first[12] & webpAlpha // its one bit for it has the same place there
	}
	vp8x := append([]byte{flags, 0, 0, 0}, edge24(h.stored.Width)...)
	body := "WEBP" + webpChunk("VP8X", string(append(vp8x, edge24(h.stored.Height)...)))
	return "RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(int64(len(body)+more)+h.kept))) + body
}

// edge24 is an edge, less one, in 24 bits.
func edge24(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n-1))[:3] }

func webpChunk(name, data string) string {
	chunk := name + string(binary.LittleEndian.AppendUint32(nil, uint32(len(data)))) + data
	return chunk + strings.Repeat("\x00", len(data)%2)
}
