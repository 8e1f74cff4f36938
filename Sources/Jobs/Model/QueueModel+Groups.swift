import ManagedObjects

// The entities beside jobs and their transitions.

extension QueueModel {
  static var dependencyEntity: EntityDefinition {
    EntityDefinition(
      dependency,
      attributes: [
        AttributeDefinition(JobDependencySlot.on.name, .integer64, isOptional: false),
        AttributeDefinition(JobDependencySlot.condition.name, .string, isOptional: false),
        AttributeDefinition(
          JobDependencySlot.isSettled.name, .boolean, isOptional: false, defaultValue: .bool(false)),
      ],
      relationships: [
        RelationshipDefinition(
          JobDependencySlot.job.name, to: job, inverse: JobSlot.dependencies.name, isOptional: false)
      ],
      indexes: [FetchIndexDefinition("on", elements: [.init(property: JobDependencySlot.on.name)])])
  }

  static var batchEntity: EntityDefinition {
    func number(_ slot: JobBatchSlot) -> AttributeDefinition {
      AttributeDefinition(slot.propertyName, .integer64, isOptional: false, defaultValue: .int(0))
    }
    return EntityDefinition(
      batch,
      attributes: [
        AttributeDefinition(JobBatchSlot.name.propertyName, .string),
        AttributeDefinition(JobBatchSlot.submittedBy.propertyName, .string, isOptional: false),
        AttributeDefinition(JobBatchSlot.submittedAt.propertyName, .date, isOptional: false),
        AttributeDefinition(JobBatchSlot.endedAt.propertyName, .date),
        number(.total), number(.pending), number(.failed), number(.kept),
        AttributeDefinition(JobBatchSlot.callback.propertyName, .integer64),
        AttributeDefinition(JobBatchSlot.condition.propertyName, .string, isOptional: false),
      ])
  }

  static var laneEntity: EntityDefinition {
    EntityDefinition(
      lane,
      attributes: [
        AttributeDefinition(LaneSettingSlot.lane.name, .string, isOptional: false),
        AttributeDefinition(LaneSettingSlot.isPaused.name, .boolean, isOptional: false, defaultValue: .bool(false)),
        AttributeDefinition(LaneSettingSlot.pausedBy.name, .string),
        AttributeDefinition(LaneSettingSlot.pausedAt.name, .date),
        AttributeDefinition(LaneSettingSlot.concurrency.name, .integer32),
      ],
      uniquenessConstraints: [[LaneSettingSlot.lane.name]])
  }
}
