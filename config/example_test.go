package config_test

import (
	"fmt"

	"github.com/sharehook/sharehook/config"
)

func ExampleParse() {
	const file = `kafka:
  brokers: [localhost:9092]
endpoints:
  - name: orders
    topics: [orders]
    url: https://shop.example/hooks/orders
    timeout: 5
    retry: {attemptz: 4}
`
	_, err := config.Parse("sharehook.yaml", []byte(file), config.Options{})
	fmt.Println(err)
	// Output:
	// sharehook.yaml:7:14: endpoints[0].timeout: "5" has no unit; write a duration such as 500ms, 10s or 2m
	// sharehook.yaml:8:13: endpoints[0].retry.attemptz: unknown key; did you mean attempts?
}
