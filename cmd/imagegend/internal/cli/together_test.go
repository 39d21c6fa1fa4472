package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
)

// Settings that cannot be meant together are refused by serve, and by commands that say what serve would do, in the
// same words and before anything is made.
func TestSettingsThatCannotBeMeantTogether(t *testing.T) {
	for args, want := range map[string]string{
		"--tls-cert x.pem": "--tls-cert and --tls-key belong together",
		"--tls-key x.pem":  "--tls-cert and --tls-key belong together",
		"--tls-cert x.pem --tls-key x.key --acme-domain images.example.com": "--acme-domain each name a certificate",
		"--ops-admin":                              "--ops-admin needs an address",
		"--ops-admin --ops-addr 0.0.0.0:0":         "operator keys would be sent without TLS to 0.0.0.0:0",
		"--ops-admin --ops-addr ops.example.com:0": "operator keys would be sent without TLS to ops.example.com:0",
		"--nodes 3":                                "--nodes is for several nodes on one database",
		"--image-links redirect":                   "--image-links redirect needs an object store",
		"--database postgres://db/x":               "--database needs --images",
		"--images s3://x":                          "--images needs --database",
		"--database mysql://db/x --images s3://x":  "--database is not the address of a PostgreSQL database",
		"--database postgres://db/x --images s3://x --backup-to away": "--backup-to is for a data directory",
		"--backup-to imagegend-data/backups":                          "imagegend-data/backups lies in the data directory",
		"--backup-to s3://":                                           "does not name a bucket",
		"--backup-to S3://bucket":                                     "is neither a directory nor a bucket",
		"--addr 127.0.0.1:9090 --ops-addr :9090":                      "are the same port",
		"--addr :9090 --ops-addr :9090":                               "are the same port",
		"--webhooks x.yaml":                                           "--webhooks needs --events",
		"--cost-notify-above 20":                                      "--cost-notify-above needs --events",
		"--dev --data-dir x":                                          "--dev keeps no data, so --data-dir",
		"--dev --database postgres://db/x --images s3://x":            "--dev keeps no data, so --database",
		"--dev --backup-to x":                                         "--dev keeps no data, so --backup-to",
		"--dev --acme-domain images.example.com":                      "--acme-domain has no place beside it",
		"--dev --addr 0.0.0.0:0":                                      "--dev serves this machine only",
	} {
		t.Run(args, func(t *testing.T) {
			is := is.New(t)
			flags := append([]string{"--models", "fake"}, strings.Fields(args)...)
			got := serve(t, nil, flags...)
			is.Equal(got.code, cli.ExitUsage)
			says(t, got.stderr, want, "; see imagegend serve --help")
			for _, command := range [][]string{{"config", "validate", "--json"}, {"doctor", "--json"}} {
				got := imagegend(t, nil, append(command, flags...)...)
				is.Equal(got.code, cli.ExitError)
				says(t, got.stdout, `"check": "configuration"`, `"state": "fail"`, want)
				says(t, got.stderr, "1 of 2 checks failed")
			}
			left, err := os.ReadDir(".")
			is.NoErr(err)
			is.Equal(len(left), 0)
		})
	}
}

// Addresses that others cannot reach, or that are behind TLS, are not refused.
func TestSettingsThatGoTogether(t *testing.T) {
	for _, args := range []string{
		"--dev --addr [::1]:0",
		"--ops-admin --ops-addr localhost:0",
		"--ops-admin --ops-addr :0",
		"--ops-admin --ops-addr 0.0.0.0:0 --trusted-proxy 10.0.0.7",
		"--addr 127.0.0.1:9090 --ops-addr 127.0.0.2:9090",
		"--ops-admin --ops-addr 0.0.0.0:0 --acme-domain images.example.com",
		"--nodes 3 --image-links redirect --database postgres://db/x --images s3://x",
		"--backup-to ../backups",
	} {
		t.Run(args, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			got := imagegend(t, nil, append([]string{"config", "validate", "--models", "fake"},
				strings.Fields(args)...)...)
			is.Equal(got.code, cli.ExitOK)
			is.Equal(got.stderr, "")
		})
	}
}

// With --dev a data directory from the environment is left alone: it is meant for other runs.
func TestValidateDevBesideADataDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	got := imagegend(t, map[string]string{"IMAGEGEND_DATA_DIR": "x"}, "config", "validate", "--dev")
	is.New(t).Equal(got.code, cli.ExitOK)
}

// The variables of traces are settings too.
func TestTracesThatCannotBeSent(t *testing.T) {
	is := is.New(t)
	t.Setenv("OTEL_TRACES_EXPORTER", "console")
	const want = `OTEL_TRACES_EXPORTER is "console"; traces are sent by otlp alone: write otlp, or none for no traces`
	got := serve(t, nil, "--models", "fake")
	is.Equal(got.code, cli.ExitError)
	says(t, got.stderr, want)
	got = imagegend(t, nil, "config", "validate", "--models", "fake")
	is.Equal(got.code, cli.ExitError)
	says(t, got.stdout, "fail  configuration  "+want)
}
