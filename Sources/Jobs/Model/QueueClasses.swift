// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension JobRecord {
  /// A request for all objects of the entity Job.
  package static func fetchRequest() -> FetchRequest<JobRecord> {
    FetchRequest(entityName: "Job")
  }

  package var kind: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  package var lane: String {
    get { self[1] ?? "" }
    set { self[1] = newValue }
  }

  /// The attribute `state`. Nil when the store holds a state that this version doesn't know.
  package var jobState: JobState? {
    get { self[2] }
    set { self[2] = newValue }
  }

  package var priority: Int {
    get { self[3] ?? 0 }
    set { self[3] = newValue }
  }

  package var store: String? {
    get { self[4] }
    set { self[4] = newValue }
  }

  package var entityName: String? {
    get { self[5] }
    set { self[5] = newValue }
  }

  package var mode: String? {
    get { self[6] }
    set { self[6] = newValue }
  }

  package var recipe: String? {
    get { self[7] }
    set { self[7] = newValue }
  }

  package var source: String? {
    get { self[8] }
    set { self[8] = newValue }
  }

  package var activeName: String? {
    get { self[9] }
    set { self[9] = newValue }
  }

  package var format: String? {
    get { self[10] }
    set { self[10] = newValue }
  }

  package var options: String {
    get { self[11] ?? "{}" }
    set { self[11] = newValue }
  }

  /// The words between bars, `|one|two|`, so a word is found with its bars; see `tagList`.
  package var tags: String? {
    get { self[12] }
    set { self[12] = newValue }
  }

  package var submittedBy: String {
    get { self[13] ?? "" }
    set { self[13] = newValue }
  }

  package var uniqueKey: String? {
    get { self[14] }
    set { self[14] = newValue }
  }

  package var origin: JobOrigin? {
    get { self[15] }
    set { self[15] = newValue }
  }

  package var submittedAt: Foundation.Date {
    get { self[16] ?? .distantPast }
    set { self[16] = newValue }
  }

  package var notBefore: Foundation.Date? {
    get { self[17] }
    set { self[17] = newValue }
  }

  /// Nil except while the job waits for a time: the index `due` holds only such jobs.
  package var availableAt: Foundation.Date? {
    get { self[18] }
    set { self[18] = newValue }
  }

  package var startedAt: Foundation.Date? {
    get { self[19] }
    set { self[19] = newValue }
  }

  package var endedAt: Foundation.Date? {
    get { self[20] }
    set { self[20] = newValue }
  }

  package var attempt: Int {
    get { self[21] ?? 0 }
    set { self[21] = newValue }
  }

  package var maxAttempts: Int {
    get { self[22] ?? 0 }
    set { self[22] = newValue }
  }

  package var rescues: Int {
    get { self[23] ?? 0 }
    set { self[23] = newValue }
  }

  package var isHeld: Bool {
    get { self[24] ?? false }
    set { self[24] = newValue }
  }

  package var isAwaitingFile: Bool {
    get { self[25] ?? false }
    set { self[25] = newValue }
  }

  package var isCancelRequested: Bool {
    get { self[26] ?? false }
    set { self[26] = newValue }
  }

  package var reason: String? {
    get { self[27] }
    set { self[27] = newValue }
  }

  package var failureCode: String? {
    get { self[28] }
    set { self[28] = newValue }
  }

  package var note: String? {
    get { self[29] }
    set { self[29] = newValue }
  }

  package var rejectsFile: String? {
    get { self[30] }
    set { self[30] = newValue }
  }

  package var bytesDone: Int64 {
    get { self[31] ?? 0 }
    set { self[31] = newValue }
  }

  package var bytesTotal: Int64 {
    get { self[32] ?? 0 }
    set { self[32] = newValue }
  }

  package var records: Int64 {
    get { self[33] ?? 0 }
    set { self[33] = newValue }
  }

  package var inserted: Int64 {
    get { self[34] ?? 0 }
    set { self[34] = newValue }
  }

  package var updated: Int64 {
    get { self[35] ?? 0 }
    set { self[35] = newValue }
  }

  package var unchanged: Int64 {
    get { self[36] ?? 0 }
    set { self[36] = newValue }
  }

  package var deleted: Int64 {
    get { self[37] ?? 0 }
    set { self[37] = newValue }
  }

  package var rejected: Int64 {
    get { self[38] ?? 0 }
    set { self[38] = newValue }
  }

  package var skipped: Int64 {
    get { self[39] ?? 0 }
    set { self[39] = newValue }
  }

  package var timeout: Double? {
    get { self[40] }
    set { self[40] = newValue }
  }

  package var deadline: Foundation.Date? {
    get { self[41] }
    set { self[41] = newValue }
  }

  /// The deadline while the job waits; nil otherwise, so the index `expiry` holds only what may expire.
  package var expiresAt: Foundation.Date? {
    get { self[42] }
    set { self[42] = newValue }
  }

  package var isAwaitingJobs: Bool {
    get { self[43] ?? false }
    set { self[43] = newValue }
  }

  /// Whether a job was ever submitted that follows this one.
  package var isFollowed: Bool {
    get { self[44] ?? false }
    set { self[44] = newValue }
  }

  /// The number of its `BatchRecord`.
  package var batch: Int64? {
    get { self[45] }
    set { self[45] = newValue }
  }

  package var transitions: Set<TransitionRecord> {
    get { objects(46) }
    set { setObjects(newValue, 46) }
  }

  package func addToTransitions(_ value: TransitionRecord) {
    add(value, to: 46)
  }

  package func removeFromTransitions(_ value: TransitionRecord) {
    remove(value, from: 46)
  }

  package func addToTransitions(_ values: Set<TransitionRecord>) {
    for value in values { add(value, to: 46) }
  }

  package func removeFromTransitions(_ values: Set<TransitionRecord>) {
    for value in values { remove(value, from: 46) }
  }

  package var dependencies: Set<DependencyRecord> {
    get { objects(47) }
    set { setObjects(newValue, 47) }
  }

  package func addToDependencies(_ value: DependencyRecord) {
    add(value, to: 47)
  }

  package func removeFromDependencies(_ value: DependencyRecord) {
    remove(value, from: 47)
  }

  package func addToDependencies(_ values: Set<DependencyRecord>) {
    for value in values { add(value, to: 47) }
  }

  package func removeFromDependencies(_ values: Set<DependencyRecord>) {
    for value in values { remove(value, from: 47) }
  }
}

extension TransitionRecord {
  /// A request for all objects of the entity JobTransition.
  package static func fetchRequest() -> FetchRequest<TransitionRecord> {
    FetchRequest(entityName: "JobTransition")
  }

  package var at: Foundation.Date? {
    get { self[0] }
    set { self[0] = newValue }
  }

  /// Nil for the submission.
  package var fromState: JobState? {
    get { self[1] }
    set { self[1] = newValue }
  }

  package var toState: JobState? {
    get { self[2] }
    set { self[2] = newValue }
  }

  package var reason: String {
    get { self[3] ?? "" }
    set { self[3] = newValue }
  }

  /// Nil for the queue itself.
  package var requestedBy: String? {
    get { self[4] }
    set { self[4] = newValue }
  }

  package var job: JobRecord? {
    get { object(5) }
    set { setObject(newValue, 5) }
  }
}

extension DependencyRecord {
  /// A request for all objects of the entity JobDependency.
  package static func fetchRequest() -> FetchRequest<DependencyRecord> {
    FetchRequest(entityName: "JobDependency")
  }

  /// The number of the job that is followed, which may have been removed.
  package var on: Int64 {
    get { self[0] ?? 0 }
    set { self[0] = newValue }
  }

  package var condition: JobDependency.Condition {
    get { self[1] ?? .succeeded }
    set { self[1] = newValue }
  }

  /// Whether the job that is followed has ended, or no longer matters.
  package var isSettled: Bool {
    get { self[2] ?? false }
    set { self[2] = newValue }
  }

  package var job: JobRecord? {
    get { object(3) }
    set { setObject(newValue, 3) }
  }
}

extension BatchRecord {
  /// A request for all objects of the entity JobBatch.
  package static func fetchRequest() -> FetchRequest<BatchRecord> {
    FetchRequest(entityName: "JobBatch")
  }

  package var name: String? {
    get { self[0] }
    set { self[0] = newValue }
  }

  package var submittedBy: String {
    get { self[1] ?? "" }
    set { self[1] = newValue }
  }

  package var submittedAt: Foundation.Date {
    get { self[2] ?? .distantPast }
    set { self[2] = newValue }
  }

  package var endedAt: Foundation.Date? {
    get { self[3] }
    set { self[3] = newValue }
  }

  package var total: Int {
    get { self[4] ?? 0 }
    set { self[4] = newValue }
  }

  /// Jobs that haven't ended.
  package var pending: Int {
    get { self[5] ?? 0 }
    set { self[5] = newValue }
  }

  /// Jobs that ended without having succeeded.
  package var failed: Int {
    get { self[6] ?? 0 }
    set { self[6] = newValue }
  }

  /// Jobs that are still in the queue's store: with the last of them the batch is removed.
  package var kept: Int {
    get { self[7] ?? 0 }
    set { self[7] = newValue }
  }

  /// The number of the job that follows them all.
  package var callback: Int64? {
    get { self[8] }
    set { self[8] = newValue }
  }

  /// How they must have ended for the callback to run.
  package var condition: JobDependency.Condition {
    get { self[9] ?? .succeeded }
    set { self[9] = newValue }
  }
}

extension LaneRecord {
  /// A request for all objects of the entity LaneSetting.
  package static func fetchRequest() -> FetchRequest<LaneRecord> {
    FetchRequest(entityName: "LaneSetting")
  }

  /// The lane's name.
  package var lane: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  package var isPaused: Bool {
    get { self[1] ?? false }
    set { self[1] = newValue }
  }

  package var pausedBy: String? {
    get { self[2] }
    set { self[2] = newValue }
  }

  package var pausedAt: Foundation.Date? {
    get { self[3] }
    set { self[3] = newValue }
  }

  /// Nil for the configuration's.
  package var concurrency: Int? {
    get { self[4] }
    set { self[4] = newValue }
  }
}

extension ScheduleRecord {
  /// A request for all objects of the entity JobSchedule.
  package static func fetchRequest() -> FetchRequest<ScheduleRecord> {
    FetchRequest(entityName: "JobSchedule")
  }

  /// The schedule's name in the configuration.
  package var name: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  /// The calendar for which the rest holds; nil while the schedule doesn't run.
  package var calendar: String? {
    get { self[1] }
    set { self[1] = newValue }
  }

  /// All elapses up to this time have been handled: no jobs are made for them any more.
  package var handled: Foundation.Date? {
    get { self[2] }
    set { self[2] = newValue }
  }

  /// The latest elapse that was handled.
  package var lastElapse: Foundation.Date? {
    get { self[3] }
    set { self[3] = newValue }
  }

  /// What came of it, for people.
  package var lastOutcome: String? {
    get { self[4] }
    set { self[4] = newValue }
  }

  /// The origin of the latest job that was made.
  package var lastOrigin: String? {
    get { self[5] }
    set { self[5] = newValue }
  }
}

/// The model Queue.xcdatamodel, and the classes of its objects.
package enum QueueModel {
  /// The model with its classes: one for the whole program.
  package static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(
        xml: xml, file: "Queue.xcdatamodel", classes: classes, layouts: layouts)
    } catch {
      // It was read without an error when this source was generated from it.
      preconditionFailure("QueueModel: \(error)")
    }
  }()

  /// The class of each entity's objects.
  package static let classes: [String: ManagedObject.Type] = [
    "Job": JobRecord.self,
    "JobTransition": TransitionRecord.self,
    "JobDependency": DependencyRecord.self,
    "JobBatch": BatchRecord.self,
    "LaneSetting": LaneRecord.self,
    "JobSchedule": ScheduleRecord.self,
  ]

  /// The slots of the accessors that stand in extensions of classes written by hand.
  package static let layouts: [String: ClassLayout] = [
    "Job": ClassLayout(
      propertyNames: [
        "kind", "lane", "state", "priority", "store", "entityName", "mode", "recipe", "source", "activeName", "format",
        "options", "tags", "submittedBy", "uniqueKey", "origin", "submittedAt", "notBefore", "availableAt",
        "startedAt", "endedAt", "attempt", "maxAttempts", "rescues", "isHeld", "isAwaitingFile", "isCancelRequested",
        "reason", "failureCode", "note", "rejectsFile", "bytesDone", "bytesTotal", "records", "inserted", "updated",
        "unchanged", "deleted", "rejected", "skipped", "timeout", "deadline", "expiresAt", "isAwaitingJobs",
        "isFollowed", "batch", "transitions", "dependencies",
      ],
      propertyTypes: [
        .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.integer32), .attribute(.string),
        .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string),
        .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string),
        .attribute(.string), .attribute(.date), .attribute(.date), .attribute(.date), .attribute(.date),
        .attribute(.date), .attribute(.integer32), .attribute(.integer32), .attribute(.integer32),
        .attribute(.boolean), .attribute(.boolean), .attribute(.boolean), .attribute(.string), .attribute(.string),
        .attribute(.string), .attribute(.string), .attribute(.integer64), .attribute(.integer64),
        .attribute(.integer64), .attribute(.integer64), .attribute(.integer64), .attribute(.integer64),
        .attribute(.integer64), .attribute(.integer64), .attribute(.integer64), .attribute(.double), .attribute(.date),
        .attribute(.date), .attribute(.boolean), .attribute(.boolean), .attribute(.integer64),
        .toMany("JobTransition"), .toMany("JobDependency"),
      ]),
    "JobTransition": ClassLayout(
      propertyNames: ["at", "fromState", "toState", "reason", "requestedBy", "job"],
      propertyTypes: [
        .attribute(.date), .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string),
        .toOne("Job"),
      ]),
    "JobDependency": ClassLayout(
      propertyNames: ["on", "condition", "isSettled", "job"],
      propertyTypes: [.attribute(.integer64), .attribute(.string), .attribute(.boolean), .toOne("Job")]),
    "JobBatch": ClassLayout(
      propertyNames: [
        "name", "submittedBy", "submittedAt", "endedAt", "total", "pending", "failed", "kept", "callback", "condition",
      ],
      propertyTypes: [
        .attribute(.string), .attribute(.string), .attribute(.date), .attribute(.date), .attribute(.integer64),
        .attribute(.integer64), .attribute(.integer64), .attribute(.integer64), .attribute(.integer64),
        .attribute(.string),
      ]),
    "LaneSetting": ClassLayout(
      propertyNames: ["lane", "isPaused", "pausedBy", "pausedAt", "concurrency"],
      propertyTypes: [
        .attribute(.string), .attribute(.boolean), .attribute(.string), .attribute(.date), .attribute(.integer32),
      ]),
    "JobSchedule": ClassLayout(
      propertyNames: ["name", "calendar", "handled", "lastElapse", "lastOutcome", "lastOrigin"],
      propertyTypes: [
        .attribute(.string), .attribute(.string), .attribute(.date), .attribute(.date), .attribute(.string),
        .attribute(.string),
      ]),
  ]

  private static let xml = #"""
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!-- The queue's own model. To change it, add attributes at the end, optional or with a default, and never give an old
     name a new meaning; then run `make classes`. -->
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    <entity name="Job" representedClassName="JobRecord" codeGenerationType="category">
        <attribute name="kind" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="lane" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="state" attributeType="String">
            <userInfo>
                <entry key="accessorName" value="jobState"/>
                <entry key="accessorType" value="JobState"/>
                <entry key="documentation" value="The attribute `state`. Nil when the store holds a state that this version doesn&#x27;t know."/>
            </userInfo>
        </attribute>
        <attribute name="priority" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="store" optional="YES" attributeType="String"/>
        <attribute name="entityName" optional="YES" attributeType="String"/>
        <attribute name="mode" optional="YES" attributeType="String"/>
        <attribute name="recipe" optional="YES" attributeType="String"/>
        <attribute name="source" optional="YES" attributeType="String"/>
        <attribute name="activeName" optional="YES" attributeType="String"/>
        <attribute name="format" optional="YES" attributeType="String"/>
        <attribute name="options" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;{}&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="tags" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="The words between bars, `|one|two|`, so a word is found with its bars; see `tagList`."/>
            </userInfo>
        </attribute>
        <attribute name="submittedBy" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="uniqueKey" optional="YES" attributeType="String"/>
        <attribute name="origin" optional="YES" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobOrigin"/>
            </userInfo>
        </attribute>
        <attribute name="submittedAt" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="accessorDefault" value=".distantPast"/>
            </userInfo>
        </attribute>
        <attribute name="notBefore" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="availableAt" optional="YES" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="Nil except while the job waits for a time: the index `due` holds only such jobs."/>
            </userInfo>
        </attribute>
        <attribute name="startedAt" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="endedAt" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="attempt" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="maxAttempts" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="rescues" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="isHeld" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="isAwaitingFile" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="isCancelRequested" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="reason" optional="YES" attributeType="String"/>
        <attribute name="failureCode" optional="YES" attributeType="String"/>
        <attribute name="note" optional="YES" attributeType="String"/>
        <attribute name="rejectsFile" optional="YES" attributeType="String"/>
        <attribute name="bytesDone" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="bytesTotal" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="records" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="inserted" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="updated" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="unchanged" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="deleted" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="rejected" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="skipped" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="timeout" optional="YES" attributeType="Double" usesScalarValueType="NO"/>
        <attribute name="deadline" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="expiresAt" optional="YES" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="The deadline while the job waits; nil otherwise, so the index `expiry` holds only what may expire."/>
            </userInfo>
        </attribute>
        <attribute name="isAwaitingJobs" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="isFollowed" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="Whether a job was ever submitted that follows this one."/>
            </userInfo>
        </attribute>
        <attribute name="batch" optional="YES" attributeType="Integer 64" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="The number of its `BatchRecord`."/>
            </userInfo>
        </attribute>
        <relationship name="transitions" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="JobTransition" inverseName="job" inverseEntity="JobTransition"/>
        <relationship name="dependencies" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="JobDependency" inverseName="job" inverseEntity="JobDependency"/>
        <fetchIndex name="claim">
            <fetchIndexElement property="lane" type="Binary" order="ascending"/>
            <fetchIndexElement property="state" type="Binary" order="ascending"/>
            <fetchIndexElement property="priority" type="Binary" order="descending"/>
        </fetchIndex>
        <fetchIndex name="due" partialIndexPredicate="availableAt != nil">
            <fetchIndexElement property="availableAt" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="expiry" partialIndexPredicate="expiresAt != nil">
            <fetchIndexElement property="expiresAt" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="state">
            <fetchIndexElement property="state" type="Binary" order="ascending"/>
            <fetchIndexElement property="endedAt" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="unique" partialIndexPredicate="uniqueKey != nil">
            <fetchIndexElement property="uniqueKey" type="Binary" order="ascending"/>
            <fetchIndexElement property="state" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="batch" partialIndexPredicate="batch != nil">
            <fetchIndexElement property="batch" type="Binary" order="ascending"/>
        </fetchIndex>
        <uniquenessConstraints>
            <uniquenessConstraint>
                <constraint value="origin"/>
            </uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="JobTransition" representedClassName="TransitionRecord" codeGenerationType="category">
        <attribute name="at" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="fromState" optional="YES" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobState"/>
                <entry key="documentation" value="Nil for the submission."/>
            </userInfo>
        </attribute>
        <attribute name="toState" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobState"/>
            </userInfo>
        </attribute>
        <attribute name="reason" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="requestedBy" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="Nil for the queue itself."/>
            </userInfo>
        </attribute>
        <relationship name="job" maxCount="1" deletionRule="Nullify" destinationEntity="Job" inverseName="transitions" inverseEntity="Job"/>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="JobDependency" representedClassName="DependencyRecord" codeGenerationType="category">
        <attribute name="on" attributeType="Integer 64" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="The number of the job that is followed, which may have been removed."/>
            </userInfo>
        </attribute>
        <attribute name="condition" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobDependency.Condition"/>
                <entry key="accessorDefault" value=".succeeded"/>
            </userInfo>
        </attribute>
        <attribute name="isSettled" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="Whether the job that is followed has ended, or no longer matters."/>
            </userInfo>
        </attribute>
        <relationship name="job" maxCount="1" deletionRule="Nullify" destinationEntity="Job" inverseName="dependencies" inverseEntity="Job"/>
        <fetchIndex name="on">
            <fetchIndexElement property="on" type="Binary" order="ascending"/>
        </fetchIndex>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="JobBatch" representedClassName="BatchRecord" codeGenerationType="category">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="submittedBy" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="submittedAt" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="accessorDefault" value=".distantPast"/>
            </userInfo>
        </attribute>
        <attribute name="endedAt" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="total" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="pending" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
                <entry key="documentation" value="Jobs that haven&#x27;t ended."/>
            </userInfo>
        </attribute>
        <attribute name="failed" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
                <entry key="documentation" value="Jobs that ended without having succeeded."/>
            </userInfo>
        </attribute>
        <attribute name="kept" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
                <entry key="documentation" value="Jobs that are still in the queue&#x27;s store: with the last of them the batch is removed."/>
            </userInfo>
        </attribute>
        <attribute name="callback" optional="YES" attributeType="Integer 64" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="The number of the job that follows them all."/>
            </userInfo>
        </attribute>
        <attribute name="condition" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobDependency.Condition"/>
                <entry key="accessorDefault" value=".succeeded"/>
                <entry key="documentation" value="How they must have ended for the callback to run."/>
            </userInfo>
        </attribute>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="LaneSetting" representedClassName="LaneRecord" codeGenerationType="category">
        <attribute name="lane" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
                <entry key="documentation" value="The lane&#x27;s name."/>
            </userInfo>
        </attribute>
        <attribute name="isPaused" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="pausedBy" optional="YES" attributeType="String"/>
        <attribute name="pausedAt" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="concurrency" optional="YES" attributeType="Integer 32" usesScalarValueType="NO">
            <userInfo>
                <entry key="accessorType" value="Int"/>
                <entry key="documentation" value="Nil for the configuration&#x27;s."/>
            </userInfo>
        </attribute>
        <uniquenessConstraints>
            <uniquenessConstraint>
                <constraint value="lane"/>
            </uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="JobSchedule" representedClassName="ScheduleRecord" codeGenerationType="category">
        <attribute name="name" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
                <entry key="documentation" value="The schedule&#x27;s name in the configuration."/>
            </userInfo>
        </attribute>
        <attribute name="calendar" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="The calendar for which the rest holds; nil while the schedule doesn&#x27;t run."/>
            </userInfo>
        </attribute>
        <attribute name="handled" optional="YES" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="All elapses up to this time have been handled: no jobs are made for them any more."/>
            </userInfo>
        </attribute>
        <attribute name="lastElapse" optional="YES" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="The latest elapse that was handled."/>
            </userInfo>
        </attribute>
        <attribute name="lastOutcome" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="What came of it, for people."/>
            </userInfo>
        </attribute>
        <attribute name="lastOrigin" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="The origin of the latest job that was made."/>
            </userInfo>
        </attribute>
        <uniquenessConstraints>
            <uniquenessConstraint>
                <constraint value="name"/>
            </uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
</model>

"""#
}
