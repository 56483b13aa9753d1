package config

import "slices"

// Files are the files that the configuration depends on: those it was read
// from, those that ${file:} brought in, and the certificates and keys that it
// names, which it does not read itself. When the content of one of them
// changes, loading again may give something else.
func (c *Config) Files() []string {
	files := slices.Clone(c.read)
	files = c.Kafka.TLS.appendFiles(files)
	for i := range c.Endpoints {
		files = c.Endpoints[i].TLS.appendFiles(files)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func (t *TLS) appendFiles(files []string) []string {
	if t == nil {
		return files
	}
	for _, file := range []string{t.CAFile, t.CertFile, t.KeyFile} {
		if file != "" {
			files = append(files, file)
		}
	}
	return files
}
