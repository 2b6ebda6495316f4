from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BoundTargetDto")


@_attrs_define
class BoundTargetDto:
    """
    Attributes:
        base_url (str | Unset):
        deployment (str | Unset):
        deployment_id (str | Unset):
        model (str | Unset):
        revision (str | Unset): Name of the pinned revision
        revision_id (str | Unset):
        supplier (str | Unset):
    """

    base_url: str | Unset = UNSET
    deployment: str | Unset = UNSET
    deployment_id: str | Unset = UNSET
    model: str | Unset = UNSET
    revision: str | Unset = UNSET
    revision_id: str | Unset = UNSET
    supplier: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        base_url = self.base_url

        deployment = self.deployment

        deployment_id = self.deployment_id

        model = self.model

        revision = self.revision

        revision_id = self.revision_id

        supplier = self.supplier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if base_url is not UNSET:
            field_dict["base_url"] = base_url
        if deployment is not UNSET:
            field_dict["deployment"] = deployment
        if deployment_id is not UNSET:
            field_dict["deployment_id"] = deployment_id
        if model is not UNSET:
            field_dict["model"] = model
        if revision is not UNSET:
            field_dict["revision"] = revision
        if revision_id is not UNSET:
            field_dict["revision_id"] = revision_id
        if supplier is not UNSET:
            field_dict["supplier"] = supplier

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        base_url = d.pop("base_url", UNSET)

        deployment = d.pop("deployment", UNSET)

        deployment_id = d.pop("deployment_id", UNSET)

        model = d.pop("model", UNSET)

        revision = d.pop("revision", UNSET)

        revision_id = d.pop("revision_id", UNSET)

        supplier = d.pop("supplier", UNSET)

        bound_target_dto = cls(
            base_url=base_url,
            deployment=deployment,
            deployment_id=deployment_id,
            model=model,
            revision=revision,
            revision_id=revision_id,
            supplier=supplier,
        )

        bound_target_dto.additional_properties = d
        return bound_target_dto

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
