/// What becomes of the objects of one entity mapping, in code of the program's own.
///
/// A subclass overrides what it wants done otherwise, and calls `super` for the rest. The manager makes one for each
/// mapping that names the class, and calls it on the thread that opens the store:
///
/// 1. ``begin(_:with:)``, ``createDestinationInstances(forSource:in:manager:)`` for each object of the source entity,
///    ``endInstanceCreation(forMapping:manager:)``: mapping by mapping, in the order of the mapping model;
/// 2. ``createRelationships(forDestination:in:manager:)`` for each object made, then
///    ``endRelationshipCreation(forMapping:manager:)``;
/// 3. ``performCustomValidation(forMapping:manager:)``, then ``end(_:manager:)``.
///
/// Objects are let go after each thousand, so that a store of any size can be migrated: keep IDs, not objects.
///
/// Source: Core Data's `NSEntityMigrationPolicy`, which keeps all objects to the end.
open class EntityMigrationPolicy {
  /// Called by the manager.
  public required init() {}

  /// Called before the first object of the source.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// Makes what becomes of one object: by itself, one object of the destination entity with the values that the mapping
  /// says, associated with the source and with the same number where that is free.
  ///
  /// An override may make none, or several; those that it associates with the source (see
  /// ``MigrationManager/associate(source:withDestination:for:)``) are given their relationships later.
  open func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.createDestinationInstance(for: source, in: mapping)
  }

  /// Called after the last object of the source.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Sets the relationships of one object of the destination: by itself, to what the objects in the source's have become.
  open func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.createRelationships(of: destination, in: mapping)
  }

  /// Called after the last object's relationships.
  open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called before the model's own validation. An error ends the migration.
  open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called at the end of everything.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}
