from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="OperatorConfigurationDto")


@_attrs_define
class OperatorConfigurationDto:
    """
    Attributes:
        current (bool): Whether the file as it is now holds. False: it is faulty or gone, and what it said before goes
            on
        digest (None | str): SHA-256 of the file that holds in this api process, in hex; null where only what is built
            in holds
        loaded_at (datetime.datetime): When this process took it
        problems (list[str]): What is wrong with the file as it is now, by key path; told to the operator tenant alone
    """

    current: bool
    digest: None | str
    loaded_at: datetime.datetime
    problems: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        current = self.current

        digest: None | str
        digest = self.digest

        loaded_at = self.loaded_at.isoformat()

        problems = self.problems

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "current": current,
                "digest": digest,
                "loaded_at": loaded_at,
                "problems": problems,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        current = d.pop("current")

        def _parse_digest(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        digest = _parse_digest(d.pop("digest"))

        loaded_at = datetime.datetime.fromisoformat(d.pop("loaded_at"))

        problems = cast(list[str], d.pop("problems"))

        operator_configuration_dto = cls(
            current=current,
            digest=digest,
            loaded_at=loaded_at,
            problems=problems,
        )

        operator_configuration_dto.additional_properties = d
        return operator_configuration_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
