from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.audience_dto import AudienceDto
    from ..models.publication_binding_dto import PublicationBindingDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="PublicationDto")


@_attrs_define
class PublicationDto:
    """
    Attributes:
        audience (AudienceDto):
        bindings (list[PublicationBindingDto]):
        created_at (datetime.datetime):
        ended_at (datetime.datetime | None): When it was superseded or withdrawn
        id (str):  Example: pub_0190f5c27bd87cc0a6b7d2f5e1a3c4d5.
        notes (None | str):
        product_id (str):
        slug (str):  Example: acme/chat.
        state (str): One of `published`, `superseded`, `withdrawn`.
        version (int):
        warnings (list[WarningDto] | Unset):
    """

    audience: AudienceDto
    bindings: list[PublicationBindingDto]
    created_at: datetime.datetime
    ended_at: datetime.datetime | None
    id: str
    notes: None | str
    product_id: str
    slug: str
    state: str
    version: int
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        audience = self.audience.to_dict()

        bindings = []
        for bindings_item_data in self.bindings:
            bindings_item = bindings_item_data.to_dict()
            bindings.append(bindings_item)

        created_at = self.created_at.isoformat()

        ended_at: None | str
        if isinstance(self.ended_at, datetime.datetime):
            ended_at = self.ended_at.isoformat()
        else:
            ended_at = self.ended_at

        id = self.id

        notes: None | str
        notes = self.notes

        product_id = self.product_id

        slug = self.slug

        state = self.state

        version = self.version

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "audience": audience,
                "bindings": bindings,
                "created_at": created_at,
                "ended_at": ended_at,
                "id": id,
                "notes": notes,
                "product_id": product_id,
                "slug": slug,
                "state": state,
                "version": version,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.audience_dto import AudienceDto
        from ..models.publication_binding_dto import PublicationBindingDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        audience = AudienceDto.from_dict(d.pop("audience"))

        bindings = []
        _bindings = d.pop("bindings")
        for bindings_item_data in _bindings:
            bindings_item = PublicationBindingDto.from_dict(bindings_item_data)

            bindings.append(bindings_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_ended_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ended_at_type_0 = datetime.datetime.fromisoformat(data)

                return ended_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ended_at = _parse_ended_at(d.pop("ended_at"))

        id = d.pop("id")

        def _parse_notes(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        notes = _parse_notes(d.pop("notes"))

        product_id = d.pop("product_id")

        slug = d.pop("slug")

        state = d.pop("state")

        version = d.pop("version")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        publication_dto = cls(
            audience=audience,
            bindings=bindings,
            created_at=created_at,
            ended_at=ended_at,
            id=id,
            notes=notes,
            product_id=product_id,
            slug=slug,
            state=state,
            version=version,
            warnings=warnings,
        )

        publication_dto.additional_properties = d
        return publication_dto

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
