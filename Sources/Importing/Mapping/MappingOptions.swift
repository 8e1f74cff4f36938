/// What a recipe says of how records become objects. It goes before what the model's user info says.
package struct MappingOptions: Codable, Sendable, Hashable {
  /// What to do with columns that nothing takes and that ``ignoredColumns`` doesn't name.
  package enum UnknownColumns: String, Codable, Sendable, CaseIterable {
    case ignore
    /// They are told in the job's notes.
    case warn
    /// The job fails before the first record, or at the first batch that has one.
    case refuse
  }

  /// By the name of an attribute or relationship of the entity.
  package var properties: [String: PropertyRule] = [:]
  /// Texts that are null in every column, such as `NA`; an empty field is null anyway.
  package var nulls: [String] = []
  /// Whether spaces and tabs around texts are taken away in every column; of numbers and dates they always are.
  package var trims = false
  /// A predicate, in the format language, over the entity's attributes and the keys of its to-one relationships as the
  /// record gives them: records for which it isn't true are passed over, and counted as skipped.
  package var filter: String?
  package var ignoredColumns: [String] = []
  package var unknownColumns = UnknownColumns.warn

  package init() {}
}

/// What a recipe says of one attribute or relationship.
package struct PropertyRule: Codable, Sendable, Hashable {
  /// What to do with a key that no object has at the end of the file.
  package enum Unresolved: String, Codable, Sendable, CaseIterable {
    /// The relationship is left empty, and the note tells how many were.
    case leave
    /// The record is rejected.
    case reject
  }

  /// The column it comes from.
  package var column: String?
  /// Every object has this value, as if each record had it in a column.
  package var constant: String?
  /// The value where the record has none, or null.
  package var defaultValue: String?
  /// Texts that are null in this column, instead of ``MappingOptions/nulls``.
  package var nulls: [String]?
  package var trims: Bool?
  /// How dates are written: `UnixTime`, or a pattern of Unicode's TR 35.
  package var dateFormat: String?
  /// The zone of dates that don't say theirs, such as `Europe/Berlin`; nil: UTC.
  package var timeZone: String?
  /// What stands before the fraction of a number, one character; nil: a dot.
  package var decimalSeparator: String?
  /// What stands between groups of a number's digits, one character; nil: nothing.
  package var groupingSeparator: String?
  /// Words for true and false instead of the usual ones; case doesn't matter.
  package var trueWords: [String]?
  package var falseWords: [String]?
  /// What texts of the source stand for; a text that isn't here stays what it is.
  package var values: [String: String]?
  /// Whether a text that ``values`` doesn't have is rejected.
  package var refusesOtherValues = false
  /// What stands between the elements of a text that holds several: the keys of a to-many relationship, or an array of
  /// a transformable attribute.
  package var separator: String?
  /// A relationship's: the destination's attribute that the key is of.
  package var key: String?
  /// A relationship's: whether an object with the key, and nothing but the key, is made when neither store nor file has
  /// one. Of a relationship to the entity itself that is at the end of the file, since a later record may be the one.
  package var creates = false
  /// A relationship's; nil: reject when the relationship needs an object, leave it empty otherwise. Records that only lead
  /// to each other in a circle are rejected.
  package var unresolved: Unresolved?

  package init() {}
}
