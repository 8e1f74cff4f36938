import Foundation
import ManagedObjects
import Testing

@testable import Jobs

/// What files of earlier versions depend on. A change here needs a migration.
@Suite("The queue's model")
struct QueueModelTests {
  /// The version hashes since the model was written in code. They cover the names, types, optionality and delete rules.
  @Test(
    "has the version that the files of earlier daemons have",
    arguments: [
      ("Job", "35e5f949bd639df3152fb535acb72f4d68678e4c8c30b983c317294c21c76d24"),
      ("JobTransition", "41af2a1f3044ec3ef41e582ffba7960e2a8aa9fecb1430378b735cd2df14be45"),
      ("JobDependency", "a9983bc3031ac2a19b5ca56fdd9a5d143712467683e52565f573834f1d5a83f2"),
      ("JobBatch", "5a26d879a2769a80f099a2387fad018a3cb319be874b5a78688c9902c35f1873"),
      ("LaneSetting", "4489f9e81d8c5b98c7d748840f4069ecf32e8778506594755ec5f660dde9404d"),
      ("JobSchedule", "beaeddbcfba689792479142442d2a411ca359fd2499fd331a385db919373ac98"),
    ])
  func version(entity: String, hash: String) throws {
    let entity = try #require(QueueModel.model.entitiesByName[entity])
    #expect(entity.versionHash.map { String(format: "%02x", $0) }.joined() == hash)
  }

  @Test("has its attributes in the order of their columns")
  func order() {
    let names = QueueModel.model.entities.map { "\($0.name): " + $0.properties.map(\.name).joined(separator: " ") }
    #expect(
      names == [
        """
        Job: kind lane state priority store entityName mode recipe source activeName format options tags submittedBy \
        uniqueKey origin submittedAt notBefore availableAt startedAt endedAt attempt maxAttempts rescues isHeld \
        isAwaitingFile isCancelRequested reason failureCode note rejectsFile bytesDone bytesTotal records inserted \
        updated unchanged deleted rejected skipped timeout deadline expiresAt isAwaitingJobs isFollowed batch \
        checkpoint claim owner host revision sharedFile transitions dependencies
        """,
        "JobTransition: at fromState toState reason requestedBy job",
        "JobDependency: on condition isSettled job",
        "JobBatch: name submittedBy submittedAt endedAt total pending failed kept callback condition",
        "LaneSetting: lane isPaused pausedBy pausedAt concurrency",
        "JobSchedule: name calendar handled lastElapse lastOutcome lastOrigin isPaused pausedBy pausedAt",
        "RecipeRun: recipe endedAt job records",
        "QueueDaemon: incarnation host startedAt process version isGone", "QueueHost: name folder",
        "QueueLease: incarnation until",
        "JobFilePart: job name start bytes closing",
      ])
  }

  @Test("has the indexes that its requests use")
  func indexes() {
    let indexes = QueueModel.model.entities.flatMap { entity in
      entity.definition.indexes.map { index in
        let columns = index.elements.map { ($0.isAscending ? "" : "-") + ($0.property ?? "?") }
        return "\(entity.name).\(index.name): \(columns.joined(separator: " "))"
          + (index.partialPredicateFormat.map { " where \($0)" } ?? "")
      }
    }
    #expect(
      indexes == [
        "Job.claim: lane state -priority", "Job.due: availableAt where availableAt != nil",
        "Job.expiry: expiresAt where expiresAt != nil", "Job.state: state", "Job.laneState: lane state",
        "Job.ended: state endedAt where endedAt != nil",
        "Job.unique: uniqueKey state where uniqueKey != nil", "Job.batch: batch where batch != nil",
        "Job.owner: owner where owner != nil", "JobDependency.on: on", "QueueLease.until: until",
        "JobFilePart.place: job name start",
      ])
    #expect(
      QueueModel.model.entities.map(\.definition.uniquenessConstraints) == [
        [["origin"]], [], [], [], [["lane"]], [["name"]], [], [["incarnation"]],
        [["name"], ["folder"]], [["incarnation"]], [],
      ])
  }

  @Test("gives a new object the same values as ever: numbers are 0, flags are false, the rest is empty")
  func defaults() {
    for attribute in QueueModel.model.entities.flatMap(\.definition.attributes) {
      switch attribute.type {
      case .boolean: #expect(attribute.defaultValue == .bool(false), "\(attribute.name)")
      case .integer32 where !attribute.isOptional: #expect(attribute.defaultValue == .int(0), "\(attribute.name)")
      case .integer64 where !attribute.isOptional && attribute.name != "on":
        #expect(attribute.defaultValue == .int(0), "\(attribute.name)")
      default: #expect(attribute.defaultValue == .null, "\(attribute.name)")
      }
    }
  }

  @Test("has every attribute that requests name")
  func keys() throws {
    func check(_ names: [String], _ entity: String) throws {
      let known = try #require(QueueModel.model.entitiesByName[entity]).propertiesByName
      #expect(names.filter { known[$0] == nil }.isEmpty)
    }
    try check(JobRecord.Key.allCases.map(\.name), QueueModel.job)
    try check(TransitionRecord.Key.allCases.map(\.name), QueueModel.transition)
    try check(DependencyRecord.Key.allCases.map(\.name), QueueModel.dependency)
    try check(LaneRecord.Key.allCases.map(\.name), QueueModel.lane)
    try check(ScheduleRecord.Key.allCases.map(\.name), QueueModel.schedule)
    try check(DaemonRecord.Key.allCases.map(\.name), QueueModel.daemon)
    try check(LeaseRecord.Key.allCases.map(\.name), QueueModel.lease)
  }
}
