// Rule 11 (ARCHITECTURE.md), where the rows are: each data store has a row for each job that works on it, with the number of the
// latest claim that has begun there. A claimant first raises it to its own number and commits, then looks whether the job is still
// its own, and then reads how far the job has come. From the raise on nothing that an earlier claimant saves is committed, so what
// is read stays as it is; and a claimant that comes too late finds a number above its own, or a job that isn't its own.
//
// Tests/Models/fence.pml has every order of these steps.

package import ManagedObjects

/// The fence of a job in a data store: the number of the latest claim that has begun there.
package struct JobFence {
  /// A later claim of the job has begun.
  package struct Raised: Error, Equatable, CustomStringConvertible {
    package let claim: Int64
    package let mine: Int64

    package var description: String {
      "the data store has been worked on under claim \(claim) of the job, and this is claim \(mine)"
    }
  }

  /// Above every claim: of a job that is gone for good.
  package static let highest = Int64.max

  /// How often a raise is tried while others raise the same fence: each that comes first has another number.
  private static let attempts = 100

  /// Raises a job's fence to a claim's number, and commits that.
  /// - Returns: what the saves of that claim's contexts are to compare.
  /// - Throws: ``Raised`` when the fence is higher; nothing has changed then.
  package static func raise(
    _ job: String, to claim: Int64, in coordinator: PersistentStoreCoordinator
  ) throws -> SaveFence {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "fence")
    context.announcesChanges = false
    var attempt = 1
    while true {
      do {
        return try raise(job, to: claim, in: context)
      } catch ManagedObjectError.mergeConflicts where attempt < attempts {
        attempt += 1
      } catch ManagedObjectError.constraintConflicts where attempt < attempts {
        attempt += 1
      }
      context.reset()
    }
  }

  /// Raises the fence of a job that has ended, so that one who was to have done it before can't write any more.
  /// - Returns: what is to be compared by those who clear up; nil where there is no fence, because no claim has begun.
  /// - Throws: ``Raised`` when the fence is higher, because the job is done again.
  package static func close(
    _ job: String, to claim: Int64, in coordinator: PersistentStoreCoordinator
  ) throws -> SaveFence? {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "fence")
    guard try find(job, in: context) != nil else { return nil }
    return try raise(job, to: claim, in: coordinator)
  }

  private static func raise(
    _ job: String, to claim: Int64, in context: ManagedObjectContext
  ) throws -> SaveFence {
    let object: ManagedObject
    if let known = try find(job, in: context) {
      let present = number(known)
      guard present <= claim else { throw Raised(claim: present, mine: claim) }
      if present == claim { return SaveFence(known) }
      object = known
    } else {
      object = try context.insert(ImportModel.fenceEntity)
      try object.setValue(.string(job), forKey: "job")
    }
    try object.setValue(.int(claim), forKey: "claim")
    try context.saveValidated()
    return SaveFence(object)
  }

  /// Removes a fence that stands at a claim's number, as the last thing that the job has in the store. The context is reset, and
  /// its saves compare nothing any more.
  package static func remove(_ job: String, at claim: Int64, in context: ManagedObjectContext) throws {
    context.reset()
    context.fence = nil
    guard let object = try find(job, in: context), number(object) == claim else { return }
    context.delete(object)
    try context.saveValidated()
    context.reset()
  }

  /// The names of jobs that have a fence.
  package static func names(beginningWith prefix: String, in context: ManagedObjectContext) throws -> [String] {
    let request = FetchRequest<ManagedObject>(
      entityName: ImportModel.fenceEntity,
      predicate: .comparison(.path("job"), .beginsWith, .constant(.string(prefix))))
    return try context.fetch(request).map { $0.value(forKey: "job")?.plainText ?? "" }
  }

  private static func number(_ object: ManagedObject) -> Int64 {
    object.value(forKey: "claim").flatMap(Int64.init(slotValue:)) ?? 0
  }

  private static func find(_ job: String, in context: ManagedObjectContext) throws -> ManagedObject? {
    try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.fenceEntity, predicate: .equal("job", .string(job)), fetchLimit: 1)
    ).first
  }
}
