package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

func TestWhereALinkLeads(t *testing.T) {
	const path, served = "/console/invitation/x", "https://images.example.com/console/invitation/x"
	tests := []struct {
		name, address, flag, variable string
		want, says                    string
	}{
		{"no server", path, "", "", config.DefaultURL + path, "--base-url names another address"},
		{"no server, another address", path, "https://a.example", "", "https://a.example" + path, ""},
		{"no server, an address in the settings", path, "", "https://b.example", "https://b.example" + path, ""},
		{"no server, an address with a path", path, "https://a.example/sub", "", "https://a.example" + path, ""},
		{"a server", served, "", "", served, ""},
		{"a server, another address", served, "https://a.example", "", "https://a.example" + path, ""},
		{"a server knows better than the settings", served, "", "https://b.example", served, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			var said bytes.Buffer
			a := &app{stderr: &said}
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			a.settings.BaseURLFlag(fs, "address")
			if test.flag != "" {
				is.NoErr(fs.Set("base-url", test.flag))
			}
			var err error
			t.Setenv("IMAGEGEND_BASE_URL", test.variable)
			a.sources, err = config.Load(fs)
			is.NoErr(err)
			got, err := a.leadTo(test.address)
			is.NoErr(err)
			is.Equal(got, test.want)
			is.True(strings.Contains(said.String(), test.says))
			is.Equal(said.Len() > 0, test.says != "")
		})
	}
}

func TestInviteUsage(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	run := func(args ...string) (code int, said string) {
		var out bytes.Buffer
		code = Run(t.Context(), args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	_, help := run("user", "invite", "--help")
	is.True(strings.Contains(help, "address that the link begins with"))
	is.True(!strings.Contains(help, "Host of the request"))
}
