/** What the batches of a node are staged in. */
export const brokerOption = {
  required: ['broker', 'kafka'],
  properties: {
    via: {
      type: 'string',
      title: 'Staged in',
      description: 'What the batches wait in between the gateways that produce them and those that store them.',
      enum: ['mqtt', 'kafka'],
      'x-labels': { mqtt: 'an MQTT broker', kafka: 'Kafka' },
      default: 'mqtt'
    },
    broker: {
      type: 'string',
      title: 'Broker',
      description: 'The MQTT broker the batches are staged in.',
      'x-node': 'sluice-broker',
      'x-when': { via: 'mqtt' }
    },
    kafka: {
      type: 'string',
      title: 'Cluster',
      description: 'The Kafka cluster the batches are staged in.',
      'x-node': 'sluice-kafka-server',
      'x-when': { via: 'kafka' }
    }
  }
}
