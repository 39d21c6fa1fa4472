package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version describes the program. Revision is the commit that it was built from, "" in a build without the repository.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// String returns the line that --version prints.
func (v version) String() string {
	return fmt.Sprintf("imagegend %s %s %s", v.Version, v.Go, v.Platform)
}

// released is the version of a release, set by the linker (deploy/release): a release is built without version
// control, so the build information does not have it. "" in every other build. The linker finds it by its path.
var released string

// thisVersion prefers the version of a release, then that of the module, such as of go install, then "devel".
func thisVersion() version {
	v := version{Version: cmp.Or(released, "devel"), Go: runtime.Version(), Platform: runtime.GOOS + "/" +
		runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	// "(devel)" is what Go writes where it knows no version.
	if released == "" && info.Main.Version != "(devel)" {
		v.Version = cmp.Or(info.Main.Version, v.Version)
	}
	// A build from a checkout has the revision, unless it was made with -buildvcs=false.
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

// versionCommand prints what --version prints, or all of it as JSON, for reports of bugs.
func (a *app) versionCommand() *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "show the version", Example: "  imagegend version --json"}
	asJSON := jsonFlag(c, "one JSON object")
	c.RunE = a.action(func(*cobra.Command, []string) error {
		v := thisVersion()
		return a.printResult(*asJSON, v, "%s", v)
	})
	return c
}
