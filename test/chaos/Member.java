import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A member of a share group that accepts all it gets and prints, once the broker has confirmed it, what that was. */
class Member {
    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args[0]);
        settings.put("group.id", args[1]);
        settings.put("share.acknowledgement.mode", "explicit");
        settings.put("max.poll.records", "20");
        settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
        var consumer = new KafkaShareConsumer<byte[], byte[]>(settings);
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try {
                main.join(10_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        try (consumer) {
            consumer.subscribe(List.of(args[2]));
            System.out.println("joined");
            while (true) {
                List<ConsumerRecord<byte[], byte[]>> got = new ArrayList<>();
                for (var record : consumer.poll(Duration.ofMillis(500))) {
                    Thread.sleep(5); // work
                    consumer.acknowledge(record, AcknowledgeType.ACCEPT);
                    got.add(record);
                }
                var failed = new ArrayList<>();
                consumer.commitSync().forEach((partition, error) -> {
                    if (error.isPresent()) {
                        failed.add(partition.topicPartition());
                        System.out.println("refused " + partition + " " + error.get());
                    }
                });
                for (var record : got) {
                    if (!failed.contains(new org.apache.kafka.common.TopicPartition(record.topic(), record.partition()))) {
                        System.out.println("accepted " + record.topic() + " " + record.partition() + " " + record.offset());
                    }
                }
            }
        } catch (WakeupException e) {
            System.out.println("leaves");
        }
    }
}
