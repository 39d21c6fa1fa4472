package imagegen_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

func TestParseSize(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]imagegen.Size{
		"auto": {}, "16x16": {Width: 16, Height: 16}, "8192x8192": {Width: 8192, Height: 8192},
		"1024x768": {Width: 1024, Height: 768},
	} {
		got, err := imagegen.ParseSize(text)
		is.NoErr(err)
		is.Equal(got, want)
		is.Equal(got.String(), text)
	}
	for _, text := range []string{"", "AUTO", "1024", "1024x", "x768", "1024X768", "15x16", "16x15", "8193x16",
		"16x8193", "01024x768", "+16x16", "-16x16", "16 x16", "16x16 ", "16x16x16", "1e3x16", "٣٢x32",
		strings.Repeat("9", 99) + "x16"} {
		_, err := imagegen.ParseSize(text)
		is.True(errors.Is(err, imagegen.ErrInvalidRequest)) // refused
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"auto", "1024x768", "16x8192", "0x0", "99999999999999999999x16", "x", "1024x768\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		size, err := imagegen.ParseSize(s)
		if err == nil && (size.String() != s || !size.Valid()) {
			t.Errorf("%q was read as %v", s, size)
		}
	})
}

func TestTierOf(t *testing.T) {
	is := is.New(t)
	for pixels, want := range map[int]imagegen.Tier{
		1: "1K", 1_700_000: "1K", 1_700_001: "2K", 4_400_000: "2K", 4_400_001: "4K", 67_108_864: "4K",
	} {
		is.Equal(imagegen.TierOf(pixels), want)
	}
}

func TestNearestRatio(t *testing.T) {
	for size, want := range map[imagegen.Size]imagegen.Ratio{
		{Width: 1024, Height: 1024}: "1:1", {Width: 1920, Height: 1080}: "16:9", {Width: 1080, Height: 1920}: "9:16",
		{Width: 1300, Height: 1000}: "4:3", {Width: 1000, Height: 700}: "3:2", {Width: 2100, Height: 900}: "21:9",
		{Width: 3000, Height: 1000}: "3:1", {Width: 300, Height: 640}: "1:2",
		{Width: 101, Height: 100}: "1:1", {Width: 66, Height: 54}: "5:4", {Width: 64, Height: 80}: "4:5",
		{Width: 72, Height: 168}: "9:21",
		// by the logarithm: they meet at √7
		{Width: 264, Height: 100}: "21:9", {Width: 265, Height: 100}: "3:1", {Width: 100, Height: 265}: "1:3",
	} {
		t.Run(size.String(), func(t *testing.T) {
			is := is.New(t)
			is.Equal(imagegen.NearestRatio(size, imagegen.Ratios()), want)
		})
	}
}
