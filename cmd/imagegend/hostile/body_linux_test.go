package hostile_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
)

// Bodies that no client would send are refused, in either encoding.
func TestBodies(t *testing.T) {
	h := open(t)
	with := func(more string) string { return strings.TrimSuffix(foxJSON, "}") + more }
	file := func(name string) string { return `form-data; name="reference_image"; filename="` + name + `"` }
	many := strings.Repeat
	const mega = 1 << 20
	for encoding, bodies := range map[string]map[string]string{
		"application/json": {
			"nothing":                   "",
			"NUL":                       "\x00",
			"a million arrays":          many("[", mega-1),
			"a deep field":              with(`,"size":` + many(`{"a":`, 100_000)),
			"a deep unknown field":      with(`,"x":` + many("[", 100_000) + many("]", 100_000) + "}"),
			"a name twice":              with(`,"n":1,"n":1}`),
			"a name twice, once hidden": with(`,"n":1,"\u006e":4}`),
			"a name in capitals":        with(`,"N":1}`),
			"a name with NUL":           with(`,"n\u0000":1}`),
			"a name of a megabyte":      with(`,"` + many("n", mega-200) + `":1}`),
			"a hundred thousand names":  with(many(`,"a":1`, 100_000) + "}"),
			"no UTF-8":                  with(",\"quality\":\"\xff\"}"),
			"an overlong NUL":           with(",\"quality\":\"\xc0\x80\"}"),
			"half a surrogate pair":     with(`,"quality":"\ud800"}`),
			"a bare NUL in a string":    with(",\"quality\":\"\x00\"}"),
			"UTF-16":                    "\xff\xfe{\x00}\x00",
			"a mark before it":          "\xef\xbb\xbf" + foxJSON,
			"a number of a megabyte":    with(`,"n":` + many("9", mega-200) + "}"),
			"a fraction of a megabyte":  with(`,"n":0.` + many("9", mega-200) + "}"),
			"an exponent":               with(`,"n":1e999999999}`),
			"minus nothing":             with(`,"n":-0}`),
			"2^64+1":                    with(`,"n":18446744073709551617}`),
			"NaN":                       with(`,"n":NaN}`),
			"two objects":               foxJSON + foxJSON,
			"something behind it":       foxJSON + many(" ", 1000) + "x",
			"a comma too many":          with(`,}`),
			"a comment":                 with(`/* a */}`),
			"more than a megabyte":      with(many(" ", mega) + "}"),
			"a prompt of 900 KB":        `{"model":"fake-1","prompt":"` + many("🦊", 225_000) + `"}`,
			"a size of 900 KB":          with(`,"size":"` + many("1", 900_000) + `x1"}`),
			"a size that runs over":     `{"model":"fake-1","prompt":"a fox","size":"18446744073709551632x48"}`,
		},
		"multipart/form-data; boundary=b": {
			"nothing":                      "",
			"no part":                      "--b--\r\n",
			"a preamble without end":       many("x", 4*mega),
			"lines before it without end":  many("\r\n", 2*mega),
			"ten thousand parts":           many(part(`form-data; name="user"`, "a"), 10_000) + "--b--\r\n",
			"ten thousand empty files":     many(part(file(""), ""), 10_000) + "--b--\r\n",
			"a hundred files":              many(part(file("a.png"), string(reference)), 100) + "--b--\r\n",
			"text of two megabytes":        part(`form-data; name="prompt"`, many("a", 2*mega)) + "--b--\r\n",
			"a part of ten thousand lines": "--b\r\n" + many("A: b\r\n", 10_000) + "\r\n\r\n--b--\r\n",
			"a part header of 8 MB": "--b\r\nContent-Disposition: form-data; name=\"" + many("a", 8*mega) +
				"\"\r\n\r\n\r\n--b--\r\n",
			"a file name of 64 KB": part(file(many("a", 64<<10)), string(reference)) + "--b--\r\n",
			"a part that is a form": part(
				"form-data; name=\"image\"; filename=\"a\"\r\nContent-Type: multipart/mixed; boundary=c",
				"--c\r\n\r\na\r\n--c--") + "--b--\r\n",
			"ten thousand parameters":   part("form-data"+many(`; a="b"`, 10_000), "") + "--b--\r\n",
			"parameters in pieces":      part("form-data; name*0=pro; name*2=mpt", "a fox") + "--b--\r\n",
			"a name in another charset": part(`form-data; name*=UTF-16''prompt`, "a fox") + "--b--\r\n",
			"NUL in a name":             part("form-data; name=\"prompt\x00\"", "a fox") + "--b--\r\n",
			"a line break in a name":    part("form-data; name=\"prompt\r\n x\"", "a fox") + "--b--\r\n",
			"a name twice": part(`form-data; name="n"`, "1") + part(`form-data; name="n"`, "1") +
				"--b--\r\n",
			"a file for a field": part(`form-data; name="prompt"; filename="../../prompt"`, "a fox") +
				"--b--\r\n",
			"a field for a file": part(`form-data; name="image"`, string(reference)) + "--b--\r\n",
			"no UTF-8":           part(`form-data; name="prompt"`, "\xff") + "--b--\r\n",
			"a wrong closing":    strings.TrimSuffix(formBody(), "--\r\n") + "\r\n",
			"base64 that is not decoded": part(
				"form-data; name=\"image\"; filename=\"a\"\r\nContent-Transfer-Encoding: base64", "iVBORw0KGgo=") +
				"--b--\r\n",
			"a picture cut short":          part(file("a.png"), string(reference[:20])) + "--b--\r\n",
			"a picture of 2^31 squared":    part(file("a.png"), header(1<<31-1, 1<<31-1)) + "--b--\r\n",
			"a picture of 100,000 squared": part(file("a.png"), header(100_000, 100_000)) + "--b--\r\n",
			"a script":                     part(file("a.png"), "<svg onload=alert(1)>") + "--b--\r\n",
		},
	} {
		for name, body := range bodies {
			t.Run(encoding[:strings.IndexByte(encoding, '/')]+" "+name, func(t *testing.T) {
				answers, err := h.say(h.post(encoding, body), 1)
				if err != nil || !slices.Equal(answers, []int{400}) {
					t.Errorf("the answers are %v; %v", answers, err)
				}
				h.in(t).exact()
			})
		}
	}
	h.unharmed()
}

func formBody() string {
	_, body := form("")
	return body
}

// header is the reference image's, claiming another size.
func header(width, height uint32) string {
	const ihdr, sum = 12, 29
	b := binary.BigEndian.AppendUint32(bytes.Clone(reference[:ihdr+4]), width)
	b = append(binary.BigEndian.AppendUint32(b, height), reference[ihdr+12:sum]...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[ihdr:])))
}

// File names that point elsewhere, or are not valid, are only text: no file gets them.
func TestFileNames(t *testing.T) {
	h := open(t)
	for name, disposition := range map[string]string{
		"a path upwards":   `filename="../../../../tmp/hostile.png"`,
		"an absolute path": `filename="/tmp/hostile.png"`,
		"another system's": `filename="C:\\hostile.png"`,
		"a device":         `filename="/dev/null"`,
		"NUL":              "filename=\"a\x00.png\"",
		"encoded NUL":      `filename*=UTF-8''a%00.png`,
		"line breaks":      `filename*=UTF-8''a%0d%0aX-Hostile:%20yes.png`,
		"escapes":          "filename=\"\x1b[31m.png\"",
		"nothing":          `filename=""`,
		"dots":             `filename=".."`,
		"32 KB":            `filename="` + strings.Repeat("a", 32<<10) + `"`,
		"right to left":    `filename="` + "\u202egnp.fox" + `"`,
		"a command":        `filename="$(touch /tmp/hostile).png"`,
	} {
		t.Run(name, func(t *testing.T) {
			_, body := form(part(`form-data; name="image"; `+disposition, string(reference)))
			answers, err := h.say(h.post("multipart/form-data; boundary=b", body), 1)
			if err != nil || len(answers) != 1 || answers[0] != 200 && answers[0] != 400 {
				t.Fatalf("the answers are %v; %v", answers, err)
			}
			if answers[0] == 200 {
				h.spent++
			}
			h.in(t).exact()
		})
	}
	h.unharmed()
}
