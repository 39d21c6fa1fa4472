package console

import "strings"

// browser names the browser and the system that an agent describes, as a person would.
func browser(agent string) string {
	name := first(agent, "Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "Chrome/", "Chrome", "Safari/", "Safari", "curl/", "curl")
	system := first(agent, "Android", "Android", "iPhone", "iPhone", "iPad", "iPad", "Windows", "Windows", "Mac OS X", "macOS", "Linux", "Linux")
	switch {
	case name == "":
		return "Unknown browser"
	case system == "":
		return name
	}
	return name + " on " + system
}

// first returns the name that follows the first of the marks that stands in s: browsers claim to be
// others, those that are most claimed come last.
func first(s string, marksAndNames ...string) string {
	for i := 0; i < len(marksAndNames); i += 2 {
		if strings.Contains(s, marksAndNames[i]) {
			return marksAndNames[i+1]
		}
	}
	return ""
}
