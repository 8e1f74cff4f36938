/// What a recipe says of how records become objects. It goes before what the model's user info says.
///
/// A cell becomes a value in these steps: the spaces around its text are taken away, if it is trimmed; it is null, if it
/// is one of the `nulls`; it is what it stands for, if it is one of the `values`; otherwise it is converted, as the rule
/// says that numbers, dates and booleans are written. An empty field of CSV is null before any of them. JSON's numbers
/// and booleans may be nulls and values too, and are otherwise what JSON means by them.
///
/// A default stands where the record says null, and where the record of a new object says nothing. A record that
/// updates an object and says nothing of an attribute, as JSON's may, leaves it alone. A default goes before the model's,
/// which stands for null where the attribute can't be null. An attribute of the key that has a constant or a default
/// needs no column: it is part of the key by that.
package struct MappingOptions: Codable, Sendable, Hashable {
  /// What to do with columns that nothing takes and that ``ignoredColumns`` doesn't name.
  package enum UnknownColumns: String, Codable, Sendable, CaseIterable {
    case ignore
    /// They are told in the job's notes.
    case warn
    /// The job fails before the first record, or at the first batch that has one.
    case refuse
  }

  /// By the name of an attribute or relationship of the entity. Of objects inside its records the model says how they are
  /// read: see ``NestedMapping``.
  package var properties: [String: PropertyRule] = [:]
  /// Texts that are null in every column, such as `NA`; an empty field is null anyway.
  package var nulls: [String] = []
  /// Whether spaces, tabs and line ends around texts are taken away in every column; of numbers and dates they always are.
  package var trims = false
  /// A predicate, in the format language, over the entity's attributes and the keys of its to-one relationships as the
  /// record gives them: records for which it isn't true are passed over, and counted as skipped. See ``RecordFilter``.
  package var filter: String?
  /// Columns that nothing is taken from, whatever they are called, and that are no unknown columns.
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
  /// Every object has this value, as if each record had it in a column, written as the rule says; one that is updated
  /// gets it too. `nulls` and `values` are for what the source says, not for this. Of a to-one relationship, the key.
  package var constant: String?
  /// The value where the record has none, or null; see ``MappingOptions``. Written as a constant is.
  package var defaultValue: String?
  /// Texts that are null in this column, instead of ``MappingOptions/nulls``.
  package var nulls: [String]?
  package var trims: Bool?
  /// How dates are written: `UnixTime`, or a pattern of Unicode's TR 35.
  package var dateFormat: String?
  /// The zone of dates that don't say theirs, such as `Europe/Berlin`; nil: UTC. A time that the zone's clocks pass over
  /// is read with the offset from before and so is later by as much; of a time that comes twice it is the first.
  package var timeZone: String?
  /// What stands before the fraction of a number, one character; nil: a dot.
  package var decimalSeparator: String?
  /// What stands between groups of a number's digits, one character; nil: nothing. Groups may be of any size, but stand
  /// between digits of the whole part.
  package var groupingSeparator: String?
  /// Words for true and false instead of the usual ones; case doesn't matter. Of the one that isn't given, the usual.
  package var trueWords: [String]?
  package var falseWords: [String]?
  /// What texts of the source stand for, written as in the source; a text that isn't here stays what it is.
  package var values: [String: String]?
  /// Whether a text that ``values`` doesn't have is rejected.
  package var refusesOtherValues = false
  /// What stands between the elements of a text that holds several: the keys of a to-many relationship, or the strings of
  /// a transformable attribute whose class is `[String]`. That takes JSON's arrays of strings as well. `nulls` are then the
  /// whole text or one element, which is left out, as empty ones are; `values` are elements.
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

// What isn't there has its default, so that options of a job that an older version submitted can be read.

extension MappingOptions {
  private enum CodingKeys: String, CodingKey {
    case properties, nulls, trims, filter, ignoredColumns, unknownColumns
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    properties = try values.decodeIfPresent([String: PropertyRule].self, forKey: .properties) ?? properties
    nulls = try values.decodeIfPresent([String].self, forKey: .nulls) ?? nulls
    trims = try values.decodeIfPresent(Bool.self, forKey: .trims) ?? trims
    filter = try values.decodeIfPresent(String.self, forKey: .filter)
    ignoredColumns = try values.decodeIfPresent([String].self, forKey: .ignoredColumns) ?? ignoredColumns
    unknownColumns = try values.decodeIfPresent(UnknownColumns.self, forKey: .unknownColumns) ?? unknownColumns
  }
}

extension PropertyRule {
  private enum CodingKeys: String, CodingKey {
    case column, constant, defaultValue, nulls, trims, dateFormat, timeZone, decimalSeparator, groupingSeparator
    case trueWords, falseWords, values, refusesOtherValues, separator, key, creates, unresolved
  }

  package init(from decoder: any Decoder) throws {
    let rule = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try rule.decodeIfPresent(String.self, forKey: key) }
    func texts(_ key: CodingKeys) throws -> [String]? { try rule.decodeIfPresent([String].self, forKey: key) }
    self.init()
    (column, constant, defaultValue) = try (text(.column), text(.constant), text(.defaultValue))
    (dateFormat, timeZone) = try (text(.dateFormat), text(.timeZone))
    (decimalSeparator, groupingSeparator) = try (text(.decimalSeparator), text(.groupingSeparator))
    (nulls, trueWords, falseWords) = try (texts(.nulls), texts(.trueWords), texts(.falseWords))
    trims = try rule.decodeIfPresent(Bool.self, forKey: .trims)
    values = try rule.decodeIfPresent([String: String].self, forKey: .values)
    refusesOtherValues = try rule.decodeIfPresent(Bool.self, forKey: .refusesOtherValues) ?? refusesOtherValues
    (separator, key) = try (text(.separator), text(.key))
    creates = try rule.decodeIfPresent(Bool.self, forKey: .creates) ?? creates
    unresolved = try rule.decodeIfPresent(Unresolved.self, forKey: .unresolved)
  }
}
