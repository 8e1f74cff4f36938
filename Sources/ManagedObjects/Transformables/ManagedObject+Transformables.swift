import Foundation

extension ManagedObject {
  /// The value of the transformable attribute in a slot, for accessors of typed classes. Fires a fault.
  ///
  /// The slot holds data, which each call decodes. `T` must be the type that the model declares for the attribute
  /// (`attributeValueClassName`), and Codable, or the type of the transformer registered under the attribute's
  /// `valueTransformerName`. Otherwise, or if the data isn't a `T`, the result is nil, and the context's next throwing call, such
  /// as a fetch or a save, throws the ``TransformableError``; ``transformable(forKey:)`` throws it directly.
  ///
  /// Source: Core Data's transformable attributes with `NSSecureUnarchiveFromDataTransformer`. Data that Core Data archived
  /// isn't readable: an archive names its classes, JSON doesn't.
  public final func transformable<T>(_ slot: Int) -> T? {
    do {
      return try decoded(slot)
    } catch {
      confinement.context?.rowSource.deferError(error)
      return nil
    }
  }

  /// Changes the transformable attribute in a slot; nil removes the value.
  ///
  /// A value that can't be encoded leaves the attribute unchanged, and the context's next throwing call throws the
  /// ``TransformableError``; ``setTransformable(_:forKey:)`` throws it directly.
  public final func setTransformable<T>(_ value: T?, _ slot: Int) {
    do {
      try encode(value, slot)
    } catch {
      confinement.context?.rowSource.deferError(error)
    }
  }

  /// The value of the transformable attribute called `key`, nil if it has none.
  /// - Throws: ``TransformableError``, or ``ManagedObjectError/unknownProperty(entity:name:)``.
  public final func transformable<T>(forKey key: String) throws -> T? {
    try decoded(transformableSlot(key))
  }

  /// Changes the transformable attribute called `key`; nil removes the value.
  /// - Throws: ``TransformableError``, or ``ManagedObjectError/unknownProperty(entity:name:)``.
  public final func setTransformable<T>(_ value: T?, forKey key: String) throws {
    try encode(value, transformableSlot(key))
  }

  private final func transformableSlot(_ key: String) throws -> Int {
    guard let slot = entity.slot(of: key) else {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: key)
    }
    return slot
  }

  private final func attribute(at slot: Int) throws(TransformableError) -> AttributeDescription {
    let property = entity.properties[slot]
    guard let attribute = property as? AttributeDescription else {
      throw .notTransformable(entity: entity.name, attribute: property.name, type: "a relationship")
    }
    return attribute
  }

  private final func decoded<T>(_ slot: Int) throws(TransformableError) -> T? {
    guard case .data(let data) = value(at: slot) else { return nil }
    return try attribute(at: slot).value(T.self, from: data)
  }

  private final func encode<T>(_ value: T?, _ slot: Int) throws(TransformableError) {
    guard let value else { return setValue(.null, at: slot) }
    setValue(.data(try attribute(at: slot).transformed(value)), at: slot)
  }
}
