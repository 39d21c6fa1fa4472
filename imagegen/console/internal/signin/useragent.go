package signin

import "strings"

// browserName turns a User-Agent header into words, such as Firefox on Windows. It is only for people to recognize
// their own browsers by; nothing depends on it.
func browserName(agent string) string {
	name := firstMark(agent, "Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "Chrome/", "Chrome",
		"Safari/", "Safari", "curl/", "curl")
	system := firstMark(agent, "Android", "Android", "iPhone", "iPhone", "iPad", "iPad", "Windows", "Windows",
		"Mac OS X", "macOS", "Linux", "Linux")
	switch {
	case name == "":
		return "Unknown browser"
	case system == "":
		return name
	}
	return name + " on " + system
}

// firstMark returns the name of the first mark that s contains; marks and names alternate. Browsers also name others
// that they are compatible with, so the marks that most browsers carry come last.
func firstMark(s string, marksAndNames ...string) string {
	for i := 0; i < len(marksAndNames); i += 2 {
		if strings.Contains(s, marksAndNames[i]) {
			return marksAndNames[i+1]
		}
	}
	return ""
}
