package doctor

import "go/version"

// Toolchain is the oldest Go whose standard library has no flaw that the service can be attacked through. What is
// shipped is built with it; .ci/run and deploy/release name it too.
const Toolchain = "go1.26.11"

// Program checks the Go that the program was built with, as runtime.Version names it. A version that is none, such as a
// development tree's, is taken as it is.
func Program(built string) Finding {
	f := ok("program", "built with %s", built)
	if version.IsValid(built) && version.Compare(built, Toolchain) < 0 {
		f.Detail += ", whose standard library has known vulnerabilities"
		return f.but("take a release, or build it with GOTOOLCHAIN=" + Toolchain + " or newer")
	}
	return f
}
