// Package shell quotes text for command lines that people paste into a shell.
package shell

import "strings"

// Quote returns s as one word of a POSIX shell, in quotes only where it needs them. An empty string stays empty.
func Quote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
