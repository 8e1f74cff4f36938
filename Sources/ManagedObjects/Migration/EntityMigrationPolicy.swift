/// Converts the objects of one entity mapping by the program's own code.
///
/// A subclass overrides the steps that it changes, and calls `super` for the rest. The manager makes one for each mapping that
/// names the class, and calls it on the thread that opens the store:
///
/// 1. ``begin(_:with:)``, ``createDestinationInstances(forSource:in:manager:)`` for each object of the source entity,
///    ``endInstanceCreation(forMapping:manager:)``: mapping by mapping, in the order of the mapping model;
/// 2. ``createRelationships(forDestination:in:manager:)`` for each object made, then
///    ``endRelationshipCreation(forMapping:manager:)``;
/// 3. ``performCustomValidation(forMapping:manager:)``, then ``end(_:manager:)``.
///
/// Objects are released after each thousand, so that a store of any size can be migrated: keep IDs, not objects.
///
/// Source: Core Data's `NSEntityMigrationPolicy`, which keeps all objects to the end.
open class EntityMigrationPolicy {
  /// Called by the manager.
  public required init() {}

  /// Called before the first object of the source.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// Converts one object. By default it makes one object of the destination entity with the mapping's values, associated with
  /// the source, and with the same number if that is free.
  ///
  /// An override may make no object or several. Those that it associates with the source (see
  /// ``MigrationManager/associate(source:withDestination:for:)``) get their relationships later.
  open func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.createDestinationInstance(for: source, in: mapping)
  }

  /// Called after the last object of the source.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Sets the relationships of one new object. By default it sets the objects that the source's objects were converted to.
  open func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.createRelationships(of: destination, in: mapping)
  }

  /// Called after the last object's relationships.
  open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called before the model's own validation. An error ends the migration.
  open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called at the very end.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}
