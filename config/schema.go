package config

import "time"

// Schema returns the JSON Schema (2020-12) of the file, for editors. Keys whose
// feature is not built yet are in it, marked and refused.
func Schema() []byte {
	root := objectSchema(rootKeys)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Sharehook configuration"
	root["description"] = "Pushes the records of Kafka topics to HTTP endpoints through share groups."
	text, err := indentedJSON(root)
	if err != nil {
		panic("config: schema: " + err.Error()) // maps of plain values always marshal
	}
	return text
}

type schema = map[string]any

// replaced is the form of a string that a replacement is part of. It may stand
// for a value of any type.
const replaced = `\$\{(env|file):`

func objectSchema(keys []key) schema {
	properties := schema{}
	var required []string
	for _, k := range keys {
		properties[k.name] = keySchema(k)
		if k.required {
			required = append(required, k.name)
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	return s
}

func keySchema(k key) schema {
	if k.notYet {
		return schema{"description": "Not supported yet. " + k.doc, "$comment": "not supported yet", "not": schema{}}
	}
	s := valueSchema(k)
	s["description"] = k.doc
	if k.defDoc != "" {
		s["description"] = k.doc + " Default: " + k.defDoc + "."
	}
	if d := jsonDefault(k.def); d != nil {
		s["default"] = d
	}
	return s
}

func valueSchema(k key) schema {
	switch k.kind {
	case object:
		s := objectSchema(k.keys)
		if s["required"] == nil {
			s["type"] = []string{"object", "null"}
		}
		return s
	case objects:
		return schema{"type": "array", "minItems": 1, "items": objectSchema(k.keys)}
	case texts, secrets:
		s := schema{"type": "array", "items": schema{"type": []string{"string", "number"}}}
		if k.required {
			s["minItems"] = 1
		}
		return s
	case textMap:
		return schema{
			"type":                 []string{"object", "null"},
			"additionalProperties": schema{"type": []string{"string", "number", "boolean"}},
		}
	case boolean:
		return orReplaced(schema{"type": "boolean"})
	case integer:
		return orReplaced(bounded(k, "integer"))
	case decimal:
		return orReplaced(bounded(k, "number"))
	case readAhead:
		return schema{"anyOf": []schema{{"const": autoWord}, bounded(k, "integer"), {"type": "string", "pattern": replaced}}}
	case rate:
		return schema{"type": []string{"string", "null"}, "pattern": rateForm.String() + "|^$|" + replaced}
	case duration:
		return schema{"type": "string", "pattern": `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)|` + replaced}
	case text, secret:
		return textSchema(k)
	default:
		return schema{}
	}
}

func textSchema(k key) schema {
	if k.enum != nil {
		return orReplaced(schema{"enum": k.enum})
	}
	if k.required || k.def != nil {
		return schema{"type": "string"}
	}
	// An optional text with nothing behind its name is unset.
	return schema{"type": []string{"string", "number", "null"}}
}

func bounded(k key, kind string) schema {
	s := schema{"type": kind}
	if k.limits != nil {
		s["minimum"], s["maximum"] = k.limits.least, k.limits.most
	}
	return s
}

func orReplaced(s schema) schema {
	return schema{"anyOf": []schema{s, {"type": "string", "pattern": replaced}}}
}

// jsonDefault writes a default as the file would have it.
func jsonDefault(def any) any {
	switch d := def.(type) {
	case time.Duration:
		return durationText(d)
	case ReadAhead:
		return d.String()
	default:
		return d
	}
}
