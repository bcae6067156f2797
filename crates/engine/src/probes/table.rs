//! Tables that a run leaves: a series is declared once, with `rows!`, in the file of its probe.

use std::sync::Arc;

/// Text of a cell, shared because names repeat often.
pub type Text = Arc<str>;

/// A column: every cell is of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Whole(Vec<u64>),
    /// Whole numbers; cells may be empty.
    MaybeWhole(Vec<Option<u64>>),
    /// Numbers.
    Real(Vec<f64>),
    /// Numbers; cells may be empty.
    MaybeReal(Vec<Option<f64>>),
    /// Text.
    Text(Vec<Text>),
}

impl Column {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Whole(cells) => cells.len(),
            Self::MaybeWhole(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
            Self::MaybeReal(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
        }
    }

    /// Whether it has no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Type of a cell.
pub trait Cell: Sized + Clone {
    /// A column of such cells.
    fn column() -> Column;
    /// Appends it.
    fn push_to(self, column: &mut Column);
    /// The cells of a column, if they are such.
    fn cells(column: &Column) -> Option<&[Self]>;
}

macro_rules! cell {
    ($kind:ty, $variant:ident) => {
        impl Cell for $kind {
            fn column() -> Column {
                Column::$variant(Vec::new())
            }
            fn push_to(self, column: &mut Column) {
                match column {
                    Column::$variant(cells) => cells.push(self),
                    other => unreachable!("a column is of its cells' type, not {other:?}"),
                }
            }
            fn cells(column: &Column) -> Option<&[Self]> {
                if let Column::$variant(cells) = column { Some(cells) } else { None }
            }
        }
    };
}
cell!(u64, Whole);
cell!(Option<u64>, MaybeWhole);
cell!(f64, Real);
cell!(Option<f64>, MaybeReal);
cell!(Text, Text);

/// A row of a table; `rows!` declares it.
pub trait Row {
    /// Name of the table: its file is NAME.parquet.
    const TABLE: &'static str;
    /// Its columns, empty.
    fn columns() -> Vec<(&'static str, Column)>;
    /// Appends the row to the columns.
    fn push_to(self, columns: &mut [(&'static str, Column)]);
}

/// Declares the rows of a table: `rows! { "caches": pub struct CacheRow { time_ns: u64, state: Text } }`. The columns
/// are the fields, in their order; the unit of each is in its name.
macro_rules! rows {
    ($table:literal: $(#[$doc:meta])* $see:vis struct $row:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        $see struct $row { $($(#[$field_doc])* pub $field: $kind,)* }

        impl $crate::probes::table::Row for $row {
            const TABLE: &'static str = $table;
            fn columns() -> Vec<(&'static str, $crate::probes::table::Column)> {
                use $crate::probes::table::Cell;
                vec![$((stringify!($field), <$kind as Cell>::column())),*]
            }
            fn push_to(self, columns: &mut [(&'static str, $crate::probes::table::Column)]) {
                use $crate::probes::table::Cell;
                let mut columns = columns.iter_mut().map(|(_, column)| column);
                $(Cell::push_to(self.$field, columns.next().expect("a column a field"));)*
            }
        }
    };
}
pub(crate) use rows;

/// A table: columns of one length, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its file is NAME.parquet.
    pub name: &'static str,
    /// Columns in the order of the file.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// An empty table of such rows.
    pub fn of<R: Row>() -> Self {
        Self { name: R::TABLE, columns: R::columns() }
    }

    /// Appends a row.
    pub fn push<R: Row>(&mut self, row: R) {
        debug_assert_eq!(self.name, R::TABLE);
        row.push_to(&mut self.columns);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells of a column.
    ///
    /// # Panics
    /// There is no such column, or its cells are of another type.
    pub fn column<T: Cell>(&self, name: &str) -> &[T] {
        let column_cells = self.columns.iter().find(|(have, _)| *have == name).and_then(|(_, column)| T::cells(column));
        column_cells.unwrap_or_else(|| panic!("{} has no such column {name}", self.name))
    }
}

/// Tables by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables(Vec<Table>);

impl Tables {
    /// Adds a table; a name is used once.
    pub fn add(&mut self, table: Table) {
        debug_assert!(self.get(table.name).is_none(), "two tables {}", table.name);
        self.0.push(table);
    }

    /// The table of this name.
    pub fn get(&self, name: &str) -> Option<&Table> {
        self.0.iter().find(|table| table.name == name)
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: Self) {
        other.0.into_iter().for_each(|table| self.add(table));
    }

    /// All, in the order in which they were left.
    pub fn iter(&self) -> impl Iterator<Item = &Table> {
        self.0.iter()
    }
}

impl std::ops::Index<&str> for Tables {
    type Output = Table;

    fn index(&self, name: &str) -> &Table {
        self.get(name).unwrap_or_else(|| panic!("no table {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    rows! { "weather": struct Weather {
        time_ns: u64,
        place: Text,
        rain_mm: Option<f64>,
    }}

    #[test]
    fn columns_are_the_fields_in_their_order_and_rows_keep_theirs() {
        let mut table = Table::of::<Weather>();
        assert!(table.is_empty());
        assert_eq!(table.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["time_ns", "place", "rain_mm"]);
        table.push(Weather { time_ns: 0, place: "here".into(), rain_mm: None });
        table.push(Weather { time_ns: 5, place: "there".into(), rain_mm: Some(0.5) });
        assert_eq!((table.len(), table.column::<u64>("time_ns")), (2, &[0, 5][..]));
        assert_eq!(table.column::<Option<f64>>("rain_mm"), [None, Some(0.5)]);
        assert_eq!(&*table.column::<Text>("place")[1], "there");
    }
}
